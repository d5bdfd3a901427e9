// The value of a relaxed counter says nothing about other data.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
atomic_int calls;
int data;
void *f(void *arg) {
  (void)arg;
  if (atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) == 0)
    data++; //~ RACE
  else
    data--; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  return 0;
}
