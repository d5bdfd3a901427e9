// A __thread variable has one copy per thread.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
__thread int x = 5;
void *f(void *arg) {
  (void)arg;
  x++;
  int r = x;
  assert(r == 6);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  x++;
  pthread_join(t, 0);
  return 0;
}
