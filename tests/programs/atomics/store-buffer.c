// Both threads cannot miss the other one's store, if all operations are sequentially consistent.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int saw_y, saw_x;
void *f(void *arg) {
  (void)arg;
  atomic_store_explicit(&x, 1, memory_order_seq_cst);
  saw_y = atomic_load(&y);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  y = 1;
  saw_x = x;
  pthread_join(t, 0);
  assert(saw_x || saw_y);
  return 0;
}
