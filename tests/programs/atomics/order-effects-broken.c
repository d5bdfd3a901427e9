// The order of a fence is computed, and read from a variable that another thread changes.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int calls;
static memory_order order = memory_order_seq_cst;
static void *change(void *arg) {
  order = memory_order_relaxed; //~ RACE
  return arg;
}
int main(void) {
  pthread_t thread;
  atomic_thread_fence((calls++, memory_order_seq_cst));
  pthread_create(&thread, 0, change, 0);
  atomic_thread_fence(order); //~ RACE
  pthread_join(thread, 0);
  assert(calls == 0); //~ ERROR
  return 0;
}
