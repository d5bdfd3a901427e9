// Reading the old pointer and storing the new one are two steps: one of the pointers may be lost.
// expect: memtrack=false memcleanup=false
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *slot;
static void *fill(void *unused) {
  pthread_mutex_lock(&m);
  int is_empty = slot == 0;
  pthread_mutex_unlock(&m);
  if (is_empty) {
    int *mine = malloc(4); //~ ERROR
    pthread_mutex_lock(&m);
    slot = mine;
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, fill, 0);
  fill(0);
  pthread_join(t, 0);
  free(slot);
  return 0;
}
