// The memory of a large structure is used as another type: the word at `yours` is also written as an element of an
// array, and holds the address of what the other thread writes.
// todo: races=false
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
  int **words = (int **)large;
  large->mine = &x;
  large->yours = &y;
  words[sizeof(struct large) / sizeof(int *) - argc] = &x;
  pthread_create(&thread, 0, worker, large);
  *large->mine = 1;
  pthread_join(thread, 0);
  return x + y;
}
