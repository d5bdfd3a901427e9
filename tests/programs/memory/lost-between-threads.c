// Each thread swaps its memory in, and frees what was there.
// expect: free=true memtrack=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *slot;
static void *swap(void *unused) {
  int *mine = malloc(4);
  pthread_mutex_lock(&m);
  int *old = slot;
  slot = mine;
  pthread_mutex_unlock(&m);
  free(old);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, swap, 0);
  swap(0);
  pthread_join(t, 0);
  free(slot);
  return 0;
}
