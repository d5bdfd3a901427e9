// What is locked may be a constant, as far as points-to sets tell, and all threads read that without a lock. But a
// constant is never locked: the program would be undefined.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

static const int limits[16] = {3, 5};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *place;

void *worker(void *argument) {
  int sum = 0;
  for (int i = 0; i < 2; i++)
    sum += limits[i];
  pthread_mutex_lock(place);
  pthread_mutex_unlock(place);
  return (void *)(long)sum;
}

int main(int argc, char **argv) {
  pthread_t one, two;
  place = argc > 2 ? (pthread_mutex_t *)limits : &lock;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
