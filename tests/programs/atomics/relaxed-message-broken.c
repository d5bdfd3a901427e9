// A relaxed flag does not publish data: they race, so the assertion is not proved either.
// expect: races=false
// todo: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static int data;
static void *writer(void *unused) {
  data = 1; //~ RACE
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    assert(data == 1); //~ RACE
  return 0;
}
