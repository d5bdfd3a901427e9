// Threads are started and joined in procedures of their own; the array is on the heap, and its length is a member of a global.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct worker {
  pthread_t thread;
  int in, out;
};

static struct {
  int verbose;
  unsigned count;
} settings;
static struct worker *workers;
static int total, finished;

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->out = worker->in + total;
  return 0;
}

static int start_all(void) {
  for (unsigned i = 0; i < settings.count; i++) {
    struct worker *worker = workers + i;
    worker->in = i;
    if (pthread_create(&worker->thread, 0, work, worker))
      return 1;
  }
  return 0;
}

static void join_all(void) {
  for (unsigned i = 0; i < settings.count; i++) {
    pthread_join(workers[i].thread, 0);
    finished = i;
    settings.verbose = 1;
  }
}

int main(int argc, char **argv) {
  settings.count = argc;
  workers = calloc(argc, sizeof *workers);
  total = 3;
  if (start_all())
    return 1;
  finished = 0;
  join_all();
  total = 4;
  free(workers);
  return 0;
}
