// trylock on a held mutex does not succeed.
// expect: assertions=false races=true
#include <pthread.h>
#include <assert.h>
#include <errno.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  int r = pthread_mutex_trylock(&m);
  assert(r == 0); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  pthread_mutex_unlock(&m);
  return 0;
}
