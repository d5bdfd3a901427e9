// A relaxed pointer to a local of its thread does not publish it.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
static int *_Atomic cell;
static void *worker(void *unused) {
  int own = 1;
  atomic_store_explicit(&cell, &own, memory_order_relaxed);
  while (1) own = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  int *p = atomic_load_explicit(&cell, memory_order_relaxed);
  return p ? *p : 0; //~ RACE
}
