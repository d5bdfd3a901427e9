// Two threads take the same pointer, and both free it.
// expect: free=false
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *shared;
static void *drop(void *unused) {
  pthread_mutex_lock(&m);
  int *mine = shared;
  pthread_mutex_unlock(&m);
  free(mine); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  shared = malloc(sizeof *shared);
  pthread_create(&t, 0, drop, 0);
  drop(0);
  pthread_join(t, 0);
  return 0;
}
