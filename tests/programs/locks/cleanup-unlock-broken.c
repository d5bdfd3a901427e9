// A lock is released by the function of a variable when its block ends: the counter is changed after that.
// expect: races=false
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void release(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }

static void *worker(void *unused) {
  {
    __attribute__((cleanup(release))) pthread_mutex_t *held = &lock;
    pthread_mutex_lock(held);
  }
  counter++; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return counter;
}
