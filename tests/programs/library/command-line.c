// Any number of arguments: a thread for each, which counts under a lock. There is a null pointer after the last argument.
// expect: races=true assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int bytes;
static void *count(void *argument) {
  const char *text = argument;
  pthread_mutex_lock(&lock);
  if (text[0] != 0 && bytes < 1000)
    bytes++;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(int argc, char **argv) {
  assert(argc >= 0);
  for (int i = 1; i < argc; i++) {
    pthread_t thread;
    int status = pthread_create(&thread, 0, count, argv[i]);
    if (status != 0) {
      fprintf(stderr, "no thread: %s\n", strerror(status));
      exit(1);
    }
  }
  return 0;
}
