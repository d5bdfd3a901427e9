// Initialisation is no atomic operation.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
atomic_int n;
void *f(void *arg) {
  (void)arg;
  n++; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  atomic_init(&n, 3); //~ RACE
  pthread_join(t, 0);
  return 0;
}
