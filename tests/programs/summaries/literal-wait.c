// What a thread waits with may be a constant, as far as points-to sets tell, and all threads read that without a lock.
// But a constant is never locked or given back: the program would be undefined.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

static const int limits[16] = {3, 5};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t *place;

void *worker(void *argument) {
  int sum = limits[0] + limits[1];
  pthread_mutex_lock(place);
  if (sum < 9)
    pthread_cond_wait(&changed, place);
  pthread_mutex_unlock(place);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, two;
  place = argc > 2 ? (pthread_mutex_t *)limits : &lock;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
