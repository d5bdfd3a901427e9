// A relaxed load orders nothing, even where it sees what was released.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *f(void *arg) {
  (void)arg;
  data = 7; //~ RACE
  atomic_store_explicit(&ready, 1, memory_order_release);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  while (!atomic_load_explicit(&ready, memory_order_relaxed))
    ;
  return data; //~ RACE
}
