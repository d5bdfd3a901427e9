// The fence releases, but nothing acquires: the reader's write to `data` is not ordered after the writer's.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *writer(void *unused) {
  data = 1; //~ RACE
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    data = 2; //~ RACE
  pthread_join(t, 0);
  return 0;
}
