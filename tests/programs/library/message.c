// The text of an error may be any, but it has an end.
// expect: races=true
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  shared = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t one;
  FILE *file = fopen("x", "r");
  if (!file) {
    pthread_create(&one, 0, worker, 0);
    fprintf(stderr, "x: %s\n", strerror(errno));
    pthread_mutex_lock(&lock);
    shared = 2;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
