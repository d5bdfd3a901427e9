// As started-in-loops.c, but the last thread is not joined.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>

struct worker {
  pthread_t thread;
  int input, output;
};

int total;

static void *run(void *argument) {
  struct worker *self = argument;
  self->output = self->input + 1; //~ RACE
  return 0;
}

int main(void) {
  int count = 2;
  struct worker *workers = calloc(count, sizeof *workers);
  if (!workers) return 1;
  for (int i = 0; i < count; i++) {
    workers[i].input = i;
    pthread_create(&workers[i].thread, 0, run, &workers[i]);
  }
  for (int i = 0; i < count; i++) {
    if (i == 1) break;
    pthread_join(workers[i].thread, 0);
    total += workers[i].output;
  }
  total += workers[1].output; //~ RACE
  return total;
}
