// The memory that a thread returns is freed by who joins it.
// expect: deref=true free=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
static void *make(void *unused) {
  return malloc(4);
}
int main(void) {
  pthread_t t;
  void *made;
  pthread_create(&t, 0, make, 0);
  pthread_join(t, &made);
  free(made);
  return 0;
}
