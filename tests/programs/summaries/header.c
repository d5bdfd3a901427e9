// A structure and the text after it are allocated at once: the text is written, and not the structure.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct text {
  long *counter;
  long size;
};

static long total;

static void *worker(void *argument) {
  struct text *text = argument;
  *text->counter = 1;
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  long other;
  size_t size = argc > 1 ? strlen(argv[1]) : 3;
  struct text *text = malloc(sizeof *text + size * sizeof(long *));
  long **after = (long **)(text + 1);
  text->counter = &total;
  for (unsigned i = 0; i < size; i++)
    after[i] = &other;
  pthread_create(&thread, 0, worker, text);
  other = 2;
  pthread_join(thread, 0);
  free(text);
  return 0;
}
