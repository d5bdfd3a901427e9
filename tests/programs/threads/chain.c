// A thread creates and joins another thread.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int x;
void *inner(void *arg) { (void)arg; x++; return 0; }
void *outer(void *arg) {
  pthread_t t;
  (void)arg;
  pthread_create(&t, 0, inner, 0);
  pthread_join(t, 0);
  x++;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  pthread_join(t, 0);
  int r = x;
  assert(r == 2);
  return 0;
}
