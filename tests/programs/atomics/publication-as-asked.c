// Where all operations are asked to be sequentially consistent, the relaxed store publishes the data.
// args: --memory-model sc
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *f(void *arg) {
  (void)arg;
  data = 7;
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    assert(data == 7);
  return 0;
}
