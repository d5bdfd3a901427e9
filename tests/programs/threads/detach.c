// A detached thread writes only under the lock.
// expect: assertions=true races=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  x = 1;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int r;
  pthread_create(&t, 0, f, 0);
  pthread_detach(t);
  pthread_mutex_lock(&m);
  r = x;
  pthread_mutex_unlock(&m);
  return r;
}
