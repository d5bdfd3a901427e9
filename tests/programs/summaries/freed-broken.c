// Like freed.c, but the memory that is freed may be the one that the threads count in.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int own;
int *count = &own;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  *count = 1; //~ RACE
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, two;
  count = malloc(sizeof *count);
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  free(count); //~ RACE
  return 0;
}
