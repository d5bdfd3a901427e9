// A relaxed variable is read in between, and it does not publish data.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int step;
static int data;
static void *writer(void *unused) {
  data = 1; //~ RACE
  atomic_store_explicit(&step, 1, memory_order_relaxed);
  atomic_store_explicit(&step, 2, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = atomic_load_explicit(&step, memory_order_relaxed);
  int second = atomic_load_explicit(&step, memory_order_relaxed);
  assert(!(first == 1 && second == 2)); //~ ERROR
  return first == 2 ? data : 0; //~ RACE
}
