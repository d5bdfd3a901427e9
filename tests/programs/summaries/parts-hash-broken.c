// The parts of an address are a quotient and a remainder: together they are the address again.
// expect: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned long row, column;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  unsigned long whole = row * 1000 + column;
  pthread_mutex_unlock(&lock);
  if (whole)
    *(int *)whole = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one;
  int *own = malloc(sizeof *own);
  pthread_create(&one, 0, worker, 0);
  pthread_mutex_lock(&lock);
  row = (unsigned long)own / 1000;
  column = (unsigned long)own % 1000;
  pthread_mutex_unlock(&lock);
  *own = 2; //~ RACE
  return 0;
}
