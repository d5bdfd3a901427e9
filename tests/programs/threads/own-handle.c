// The new thread asks for its own id, and others wait until it was stored.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_t t;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  assert(pthread_equal(t, pthread_self()));
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, f, 0);
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
