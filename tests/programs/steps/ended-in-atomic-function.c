// A thread that has ended stops nobody, though its function is atomic by name.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
int done;
void *__VERIFIER_atomic_set(void *arg) {
  (void)arg;
  done = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, __VERIFIER_atomic_set, 0);
  pthread_join(t, 0);
  assert(done == 1);
  return 0;
}
