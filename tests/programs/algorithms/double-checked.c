// Double-checked initialisation with an atomic flag.
// expect: assertions=true races=true
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int done;
int value;
static int get(void) {
  if (!done) {
    pthread_mutex_lock(&m);
    if (!done) {
      value = 7;
      done = 1;
    }
    pthread_mutex_unlock(&m);
  }
  return value;
}
void *f(void *arg) {
  (void)arg;
  int r = get();
  assert(r == 7);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  return 0;
}
