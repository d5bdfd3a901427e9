// Boppo (paper 3), Figure 4, broken: without the lock.
// expect: assertions=false races=false
// args: --engine states
#include <assert.h>
#include <pthread.h>
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
_Bool g;
void *f(void *arg) {
  (void)arg;
  _Bool v = g; //~ RACE
  assert(!v); //~ ERROR
  g = 1; //~ RACE
  g = 0; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  while (1)
    pthread_create(&t, 0, f, 0);
}
