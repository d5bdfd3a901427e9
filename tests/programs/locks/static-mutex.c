// A statically initialised mutex keeps a two-variable invariant.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a, b;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  a++;
  b++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int x, y;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  x = a;
  y = b;
  pthread_mutex_unlock(&m);
  assert(x == y);
  pthread_join(t, 0);
  return 0;
}
