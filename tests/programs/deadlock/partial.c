// Two threads take locks in one order, and a third continues.
// expect: deadlock=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&k);
  pthread_mutex_unlock(&k);
  pthread_mutex_unlock(&m);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&k);
  pthread_mutex_unlock(&m);
  pthread_mutex_unlock(&k);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  for (;;)
    n = !n;
}
