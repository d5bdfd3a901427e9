// The timed lock may time out and the write happens without it.
// expect: assertions=true races=false
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  struct timespec ts = {0, 0};
  (void)arg;
  if (pthread_mutex_timedlock(&m, &ts) != 0)
    n = -1; //~ RACE
  else
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  n = 1; //~ RACE
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
