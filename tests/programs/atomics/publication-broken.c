// A relaxed store publishes nothing: whoever sees it may not see what came before.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *f(void *arg) {
  (void)arg;
  data = 7; //~ RACE
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  if (atomic_load_explicit(&ready, memory_order_acquire))
    return data; //~ RACE
  return 0;
}
