// Reads of one relaxed variable are in its order: after a later value, no earlier one is read.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int step;
static void *writer(void *unused) {
  atomic_store_explicit(&step, 1, memory_order_relaxed);
  atomic_store_explicit(&step, 2, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = atomic_load_explicit(&step, memory_order_relaxed);
  int second = atomic_load_explicit(&step, memory_order_relaxed);
  assert(!(first == 2 && second == 1));
  return 0;
}
