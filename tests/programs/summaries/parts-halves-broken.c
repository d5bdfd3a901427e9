// The halves of an address are left in memory, and joined by another thread.
// expect: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned low, high;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  unsigned long whole = (unsigned long)high << 32 | low;
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
  low = (unsigned)(unsigned long)own;
  high = (unsigned)((unsigned long)own >> 32);
  pthread_mutex_unlock(&lock);
  *own = 2; //~ RACE
  return 0;
}
