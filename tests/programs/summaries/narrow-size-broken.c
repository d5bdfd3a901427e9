// The memory of a structure is used as another type, whose size does not divide its own: the word at `yours` is also
// written as an element of an array, and holds the address of what the other thread writes.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct pair {
  int *mine;
  int *yours;
  long others[3];
};

struct part {
  long first;
  int *second;
  long third;
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
  struct part *parts = (struct part *)pair;
  pair->mine = &x;
  pair->yours = &y;
  parts[argc - 1].second = &x;
  pthread_create(&thread, 0, worker, pair);
  *pair->mine = 1;
  pthread_join(thread, 0);
  return x + y;
}
