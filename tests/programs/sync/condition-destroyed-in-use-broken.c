// The condition is destroyed although the thread that signals it was not joined.
// expect: races=false
#include <pthread.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_cond_broadcast(&c); //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_cond_destroy(&c); //~ RACE
  pthread_join(t, 0);
  return 0;
}
