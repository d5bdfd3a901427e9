// The members of a structure on the heap are told apart, though its size wraps around on the way to the call.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct pair {
  int *mine;
  int *yours;
  long others[3];
};

static int x, y;

static void *worker(void *argument) {
  struct pair *pair = argument;
  *pair->yours = 1;
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  unsigned bytes = argc * sizeof(struct pair);
  struct pair *pair = malloc(bytes);
  pair->mine = &x;
  pair->yours = &y;
  pthread_create(&thread, 0, worker, pair);
  *pair->mine = 1;
  pthread_join(thread, 0);
  return x + y;
}
