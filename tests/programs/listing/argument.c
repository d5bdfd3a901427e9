// As its broken version, but the lock is taken on both sides.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int alive;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  alive = alive + 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t;
  if (argc < 3)
    return 1;
  if (strcmp(argv[1], "help") == 0)
    return 0;
  if (strcmp(argv[1], "stress") == 0 && atoi(argv[2]) > 3) {
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&lock);
    int seen = alive;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return seen;
  }
  return 2;
}
