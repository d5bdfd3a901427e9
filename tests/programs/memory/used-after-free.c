// The first thread frees what the other one used, after that has ended.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
int *shared;
static void *use(void *unused) {
  *shared = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  shared = malloc(sizeof *shared);
  pthread_create(&t, 0, use, 0);
  pthread_join(t, 0);
  free(shared);
  return 0;
}
