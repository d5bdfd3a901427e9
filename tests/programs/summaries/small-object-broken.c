// Like small-object.c, but both structures have the member.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>

struct small {
  long count;
  long total;
};

struct large {
  long count;
  long total;
  long most;
};

static void add(void *object, int is_large) {
  if (is_large)
    ((struct large *)object)->total = 1; //~ RACE
}

static void *worker(void *argument) {
  struct large *own = malloc(sizeof *own);
  add(own, 1);
  add(argument, 1);
  free(own);
  return 0;
}

int main(void) {
  pthread_t thread;
  struct small *shared = malloc(sizeof *shared);
  pthread_create(&thread, 0, worker, shared);
  shared->total = 2; //~ RACE
  pthread_join(thread, 0);
  return 0;
}
