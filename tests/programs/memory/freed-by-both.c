// Two threads take the memory out of a variable under a lock, and free what they get.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *shared;
static void *drop(void *unused) {
  pthread_mutex_lock(&m);
  int *mine = shared;
  shared = 0;
  pthread_mutex_unlock(&m);
  free(mine);
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
