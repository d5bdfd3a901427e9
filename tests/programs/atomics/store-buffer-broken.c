// With release and acquire, both threads may miss the other one's store.
// todo: assertions=false
// expect: races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int saw_y, saw_x;
void *f(void *arg) {
  (void)arg;
  atomic_store_explicit(&x, 1, memory_order_release);
  saw_y = atomic_load_explicit(&y, memory_order_acquire);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  atomic_store_explicit(&y, 1, memory_order_release);
  saw_x = atomic_load_explicit(&x, memory_order_acquire);
  pthread_join(t, 0);
  assert(saw_x || saw_y); //~ ERROR
  return 0;
}
