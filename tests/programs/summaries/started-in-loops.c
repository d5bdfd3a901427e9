// One loop starts threads with a structure each, another one joins them; the first thread uses a structure before its thread starts
// and after it was joined.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct worker {
  pthread_t thread;
  int input, output;
};

int total;

static void *run(void *argument) {
  struct worker *self = argument;
  self->output = self->input + 1;
  return 0;
}

int main(int argc, char **argv) {
  int count = argc;
  struct worker *workers = calloc(count, sizeof *workers);
  if (!workers) return 1;
  for (int i = 0; i < count; i++) {
    workers[i].input = i;
    pthread_create(&workers[i].thread, 0, run, &workers[i]);
  }
  for (int i = 0; i < count; i++) {
    pthread_join(workers[i].thread, 0);
    total += workers[i].output;
  }
  free(workers);
  return total;
}
