// One of two threads gives back the object: the one that takes its address away.
// expect: bounds=true
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
_Atomic(int *) p;
void *f(void *arg) {
  (void)arg;
  free(atomic_exchange(&p, 0));
  return 0;
}
int main(void) {
  pthread_t t;
  p = malloc(sizeof(int));
  pthread_create(&t, 0, f, 0);
  free(atomic_exchange(&p, 0));
  pthread_join(t, 0);
  return 0;
}
