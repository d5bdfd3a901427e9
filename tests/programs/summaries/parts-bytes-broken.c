// The bytes of an address are copied one by one, and read as a whole.
// expect: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int *shared;

void copy(void *to, const void *from, unsigned long bytes) {
  char *target = to;
  const char *source = from;
  while (bytes--)
    *target++ = *source++;
}

void *worker(void *argument) {
  int *given;
  pthread_mutex_lock(&lock);
  copy(&given, &shared, sizeof given);
  pthread_mutex_unlock(&lock);
  if (given)
    *given = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one;
  int *own = malloc(sizeof *own);
  pthread_create(&one, 0, worker, 0);
  pthread_mutex_lock(&lock);
  copy(&shared, &own, sizeof own);
  pthread_mutex_unlock(&lock);
  *own = 2; //~ RACE
  return 0;
}
