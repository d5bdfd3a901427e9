// A thread that calls `pthread_exit` inside of an atomic function has ended, too.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
int done;
void __VERIFIER_atomic_finish(void) {
  done = 1;
  pthread_exit(0);
}
void *f(void *arg) {
  (void)arg;
  __VERIFIER_atomic_finish();
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  assert(done == 0); //~ ERROR
  return 0;
}
