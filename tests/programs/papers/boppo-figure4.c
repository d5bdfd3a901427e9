// Boppo (paper 3), Figure 4: Boolean program with a critical section in unboundedly many threads; the assertion holds.
// expect: assertions=true races=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
_Bool g;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&l);
  _Bool v = g;
  assert(!v);
  g = 1;
  g = 0;
  pthread_mutex_unlock(&l);
  return 0;
}
int main(void) {
  pthread_t t;
  while (1)
    pthread_create(&t, 0, f, 0);
}
