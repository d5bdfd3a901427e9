// A relaxed counter, and nothing else, is shared: it has its sum at the end.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int calls;
static void *worker(void *unused) {
  for (int i = 0; i < 2; i++) atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(atomic_load_explicit(&calls, memory_order_relaxed) == 4);
  return 0;
}
