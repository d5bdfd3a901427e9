// expect: races=true
// args: --engine summaries
// Members of memory that a wrapper allocates are told apart: all its sizes are multiples of one.
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
  own->left = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  struct pair *own = get(3 * sizeof(struct pair));
  own->next = own;
  shared = own;
  pthread_create(&thread, 0, worker, 0);
  own->next->right = 2;
  pthread_join(thread, 0);
  return 0;
}
