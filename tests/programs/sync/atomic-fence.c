// Explicit memory orders and fences publish the data.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int flag;
void *f(void *arg) {
  (void)arg;
  data = 1;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&flag, 1, memory_order_release);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int seen = atomic_load_explicit(&flag, memory_order_acquire);
  atomic_thread_fence(memory_order_acquire);
  if (seen) {
    int r = data;
    assert(r == 1);
  }
  pthread_join(t, 0);
  return 0;
}
