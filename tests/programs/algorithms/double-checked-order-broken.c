// The flag of a double-checked initialisation is set before the value.
// expect: assertions=false races=false
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int done;
int value;
void *f(void *arg) {
  (void)arg;
  if (!done) {
    pthread_mutex_lock(&m);
    if (!done) {
      done = 1;
      value = 7; //~ RACE
    }
    pthread_mutex_unlock(&m);
  }
  int r = value; //~ RACE
  assert(r == 7); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  return 0;
}
