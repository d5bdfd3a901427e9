// A lock that is given back without a release.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
int n;
void *f(void *arg) {
  (void)arg;
  while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
    ;
  n++; //~ RACE
  atomic_store_explicit(&lock, 0, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  return n;
}
