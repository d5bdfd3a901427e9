// A lock is released by the function of a variable, also where the function returns early.
// expect: races=true assertions=true
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void release(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }

static void add(int much) {
  __attribute__((cleanup(release))) pthread_mutex_t *held = &lock;
  pthread_mutex_lock(held);
  if (!much) return;
  counter += much;
}

static void *worker(void *unused) {
  add(0);
  add(2);
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
