// An atomic object is initialised before others see it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int n;
void *f(void *arg) {
  (void)arg;
  assert(n >= 3);
  n++;
  return 0;
}
int main(void) {
  pthread_t t;
  atomic_init(&n, 3);
  pthread_create(&t, 0, f, 0);
  n++;
  pthread_join(t, 0);
  return 0;
}
