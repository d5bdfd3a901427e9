// A buffer of one place, two that take and one that puts; all are woken at each change.
// expect: deadlock=true
#include <pthread.h>
int full;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *take(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  while (!full)
    pthread_cond_wait(&c, &m);
  full = 0;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  return 0;
}
void *put(void *arg) {
  (void)arg;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&m);
    while (full)
      pthread_cond_wait(&c, &m);
    full = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t t, u, v;
  pthread_create(&t, 0, take, 0);
  pthread_create(&u, 0, take, 0);
  pthread_create(&v, 0, put, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  pthread_join(v, 0);
  return 0;
}
