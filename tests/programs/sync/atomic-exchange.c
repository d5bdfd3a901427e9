// Only one of two threads gets the zero from an atomic exchange.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int taken, winners;
void *f(void *arg) {
  (void)arg;
  if (atomic_exchange(&taken, 1) == 0)
    atomic_fetch_add(&winners, 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(winners == 1);
  return 0;
}
