// The one who sets the flag signals.
// expect: deadlock=true
#include <pthread.h>
int ready;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  while (!ready)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
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
