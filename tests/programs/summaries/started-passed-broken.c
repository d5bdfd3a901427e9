// Procedures that start and join the threads of an array get the array and its length; the second one gets less of it.
// expect: races=false
#include <pthread.h>
#include <stddef.h>

struct worker {
  pthread_t thread;
  int in, out;
};

static int total;

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->out = worker->in + total; //~ RACE
  return 0;
}

static void start_all(struct worker *workers, unsigned count) {
  for (size_t i = 0; i < count; i++)
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
}

static void join_all(struct worker *workers, unsigned count) {
  for (size_t i = 0; i < count; i++)
    pthread_join(workers[i].thread, 0);
}

int main(void) {
  static struct worker workers[2];
  start_all(workers, 2);
  join_all(workers, 1);
  total = 4; //~ RACE
  return 0;
}
