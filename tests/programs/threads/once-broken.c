// A plain flag does not make the initialisation run once.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_once_t once = PTHREAD_ONCE_INIT;
int ready, inits;
void init(void) {
  inits++; //~ RACE
  ready = 1; //~ RACE
}
void *f(void *arg) {
  (void)arg;
  if (!ready) //~ RACE
    init();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(inits == 1); //~ ERROR
  return 0;
}
