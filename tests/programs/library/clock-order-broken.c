// It may well stand still.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
#include <time.h>

static struct timespec seen;

static void *worker(void *arg) {
  clock_gettime(CLOCK_MONOTONIC, &seen);
  return 0;
}

int main(void) {
  struct timespec now;
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pthread_join(thread, 0);
  clock_gettime(CLOCK_MONOTONIC, &now);
  assert(now.tv_sec > seen.tv_sec); //~ ERROR
  return 0;
}
