// What several threads return is freed by who joins them, one after the other.
// expect: memtrack=true
#include <pthread.h>
#include <stdlib.h>
static void *make(void *unused) {
  return malloc(3);
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, make, 0);
  for (int i = 0; i < 2; i++) {
    void *made;
    pthread_join(t[i], &made);
    free(made);
  }
  return 0;
}
