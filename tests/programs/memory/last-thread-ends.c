// The first thread ends by `pthread_exit`; the other one frees, and the program ends with it.
// expect: memtrack=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
int *shared;
static void *drop(void *unused) {
  free(shared);
  return 0;
}
int main(void) {
  pthread_t t;
  shared = malloc(4);
  pthread_create(&t, 0, drop, 0);
  pthread_exit(0);
}
