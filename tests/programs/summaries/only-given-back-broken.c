// Like only-given-back.c, but the wrapper gives back the lock that it is called with, too early.
// todo: races=false
// args: --engine summaries
#include <pthread.h>

pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t never_taken = PTHREAD_MUTEX_INITIALIZER;
int count;

static void give_back(pthread_mutex_t *lock) {
  (void)lock;
  pthread_mutex_unlock(lock);
}

void *worker(void *argument) {
  pthread_mutex_lock(&taken);
  count++; //~ RACE
  pthread_mutex_unlock(&taken);
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_mutex_lock(&taken);
  give_back(&taken);
  count++; //~ RACE
  give_back(&never_taken);
  return 0;
}
