// A write before the creation is ordered before the thread.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int x;
void *f(void *arg) {
  (void)arg;
  int r = x;
  assert(r == 1);
  return 0;
}
int main(void) {
  pthread_t t;
  x = 1;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  return 0;
}
