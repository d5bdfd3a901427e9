// Two threads that get the same argument: one writes to it while the other reads.
// expect: races=false assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int bytes;
static void *count(void *argument) {
  char *text = argument;
  int empty = text[0] == 0; //~ ERROR
  pthread_mutex_lock(&lock);
  if (!empty && bytes < 1000)
    text[0] = bytes++; //~ ERROR
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(int argc, char **argv) {
  assert(argc >= 0);
  for (int i = 1; i < argc; i++) {
    pthread_t thread;
    int status = pthread_create(&thread, 0, count, argv[1]);
    if (status != 0) {
      fprintf(stderr, "no thread: %s\n", strerror(status));
      exit(1);
    }
  }
  return 0;
}
