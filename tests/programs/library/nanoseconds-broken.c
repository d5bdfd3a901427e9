// A negative number of nanoseconds is no time to wait for.
// expect: assertions=false
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct timespec before = {1, -1};
  pthread_mutex_lock(&mutex);
  int result = pthread_mutex_timedlock(&mutex, &before);
  assert(result == ETIMEDOUT); //~ ERROR
  return 0;
}
