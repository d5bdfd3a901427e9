// A member that only the larger of two structures has is not written where the pointer may be one to the
// smaller one: such an access is in no object.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct small {
  long count;
};

struct large {
  long count;
  long total;
};

static void add(void *object, int is_large) {
  if (is_large)
    ((struct large *)object)->total = 1;
}

static void *worker(void *argument) {
  struct large *own = malloc(sizeof *own);
  add(own, 1);
  add(argument, 0);
  free(own);
  return 0;
}

int main(void) {
  pthread_t thread;
  struct small *shared = malloc(sizeof *shared);
  pthread_create(&thread, 0, worker, shared);
  shared->count = 2;
  pthread_join(thread, 0);
  return 0;
}
