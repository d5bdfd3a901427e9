// A fence for signal handlers orders nothing between threads.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *writer(void *unused) {
  data = 1; //~ RACE
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (atomic_load_explicit(&ready, memory_order_acquire))
    data = 2; //~ RACE
  pthread_join(t, 0);
  return 0;
}
