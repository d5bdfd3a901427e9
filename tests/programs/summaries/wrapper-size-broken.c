// expect: races=false
// As its safe version, but both threads write the same member.
#include <pthread.h>
#include <stdlib.h>

struct pair {
  long left;
  long right;
  struct pair *next;
};

static void *get(unsigned long size) {
  void *memory = malloc(size);
  if (!memory)
    exit(1);
  return memory;
}

static struct pair *shared;

static void *worker(void *argument) {
  struct pair *own = shared;
  own->left = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t thread;
  struct pair *own = get(3 * sizeof(struct pair));
  own->next = own;
  shared = own;
  pthread_create(&thread, 0, worker, 0);
  own->next->left = 2; //~ RACE
  pthread_join(thread, 0);
  return 0;
}
