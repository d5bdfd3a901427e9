// The members of a large structure on the heap are told apart: each thread writes through its own.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct large {
  char text[6000];
  int *mine;
  int *yours;
};

static int x, y;

static void *worker(void *argument) {
  struct large *large = argument;
  *large->yours = 1;
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  struct large *large = malloc(argc * sizeof(struct large));
  large->mine = &x;
  large->yours = &y;
  pthread_create(&thread, 0, worker, large);
  *large->mine = 1;
  pthread_join(thread, 0);
  return x + y;
}
