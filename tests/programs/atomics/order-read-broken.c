// The order of a load is read from a variable that another thread changes.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int cell;
static memory_order order = memory_order_seq_cst;
static void *change(void *arg) {
  order = memory_order_relaxed; //~ RACE
  return arg;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, change, 0);
  int value = atomic_load_explicit(&cell, order); //~ RACE
  pthread_join(thread, 0);
  return value;
}
