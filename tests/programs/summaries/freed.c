// What is freed may be a variable, as far as points-to sets tell. But only allocated memory is freed: the program would be
// undefined.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, two;
  int *place = argc > 2 ? &count : malloc(sizeof *place);
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  if (place != &count)
    free(place);
  return 0;
}
