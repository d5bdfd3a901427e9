// Threads are started and joined in procedures of their own; the length of the array is a member of a global, which changes between.
// expect: races=false
#include <pthread.h>

struct worker {
  pthread_t thread;
  int in, out;
};

static struct {
  int verbose;
  unsigned count;
} settings;
static struct worker workers[4];
static int total;

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->out = worker->in + total; //~ RACE
  return 0;
}

static void start_all(void) {
  for (unsigned i = 0; i < settings.count; i++)
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
}

static void join_all(void) {
  for (unsigned i = 0; i < settings.count; i++) {
    pthread_join(workers[i].thread, 0);
    settings.count = 1;
  }
}

int main(void) {
  settings.count = 2;
  start_all();
  join_all();
  total = 4; //~ RACE
  return 0;
}
