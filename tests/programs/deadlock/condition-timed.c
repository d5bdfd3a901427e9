// Nobody signals, and the wait ends at some time.
// expect: deadlock=true
#include <pthread.h>
#include <time.h>
int ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  struct timespec until = {1, 0};
  pthread_cond_timedwait(&c, &m, &until);
  pthread_mutex_unlock(&m);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
