// Waits refuse a time whose nanoseconds are out of range; the clock gives none such.
// expect: assertions=true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  struct timespec never = {1, 1000000000}, now;
  assert(nanosleep(&never, 0) == -1);
  assert(clock_nanosleep(CLOCK_REALTIME, 0, &never, 0) == EINVAL);
  pthread_mutex_lock(&mutex);
  assert(pthread_cond_timedwait(&condition, &mutex, &never) == EINVAL);
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec++;
  int result = pthread_cond_timedwait(&condition, &mutex, &now);
  assert(result == 0 || result == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  sem_init(&semaphore, 0, 0);
  assert(sem_timedwait(&semaphore, &never) == -1 && errno == EINVAL);
  return 0;
}
