// As started-twice.c, but one of the two threads is joined twice, and the other one never.
// expect: races=false
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *run(void *argument) {
  (void)argument;
  pthread_mutex_lock(&mutex);
  counter++; //~ RACE
  pthread_mutex_unlock(&mutex);
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, run, 0);
  pthread_create(&second, 0, run, 0);
  pthread_join(first, 0);
  pthread_join(first, 0);
  return counter; //~ RACE
}
