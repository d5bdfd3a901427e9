// A clock that cannot be set never runs backwards, whatever thread asks.
// expect: assertions=true
// args: --engine states
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
  assert(now.tv_sec >= seen.tv_sec);
  return 0;
}
