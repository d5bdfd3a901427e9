// A thread of an atomic function does not begin with its creation.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
int x;
void *__VERIFIER_atomic_set(void *arg) {
  (void)arg;
  x = 1;
  x = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, __VERIFIER_atomic_set, 0);
  x = 5;
  pthread_join(t, 0);
  assert(x == 5); //~ ERROR
  return 0;
}
