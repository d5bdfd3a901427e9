// A lock by exchange: acquired when it is taken, released when it is given back.
// todo: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
int n;
void *f(void *arg) {
  (void)arg;
  while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
    ;
  n++;
  atomic_store_explicit(&lock, 0, memory_order_release);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  assert(n == 2);
  return 0;
}
