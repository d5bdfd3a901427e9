// The first thread frees what the other one may still use.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
int *shared;
static void *use(void *unused) {
  *shared = 1; //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  shared = malloc(sizeof *shared);
  pthread_create(&t, 0, use, 0);
  free(shared);
  pthread_join(t, 0);
  return 0;
}
