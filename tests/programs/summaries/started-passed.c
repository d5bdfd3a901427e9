// Procedures that start and join the threads of an array get the array and its length; indices have 64 bits.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stddef.h>

struct worker {
  pthread_t thread;
  int in, out;
};

static int total;

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->out = worker->in + total;
  return 0;
}

static void start_all(struct worker *workers, unsigned count) {
  for (size_t i = 0; i < count; i++) {
    if (i == 0)
      total = 3;
    workers[i].in = i;
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
  }
}

static void join_all(struct worker *workers, unsigned count) {
  for (size_t i = 0; i < count; i++)
    pthread_join(workers[i].thread, 0);
}

int main(int argc, char **argv) {
  struct worker workers[8];
  unsigned count = argc;
  if (count > 8)
    return 1;
  start_all(workers, count);
  join_all(workers, count);
  total = 4;
  return workers[0].out;
}
