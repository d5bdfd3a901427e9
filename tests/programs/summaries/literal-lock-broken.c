// What is locked may be a variable that is no constant: that is an access to it.
// todo: races=false
// args: --engine summaries
#include <pthread.h>

static int limits[16] = {3, 5};
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
