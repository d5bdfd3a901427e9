// Like header.c, but what is written goes back to the structure.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct text {
  long *counter;
  long size;
};

static long total;
static long other;

static void *worker(void *argument) {
  struct text *text = argument;
  *text->counter = 1; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  size_t size = argc > 1 ? strlen(argv[1]) : 3;
  struct text *text = malloc(sizeof *text + size * sizeof(long *));
  long **after = (long **)(text + 1);
  text->counter = &total;
  for (int i = -2; i < 0; i++)
    after[i] = &other;
  pthread_create(&thread, 0, worker, text);
  other = 2; //~ RACE
  pthread_join(thread, 0);
  free(text);
  return 0;
}
