// The first thread initialises x, the others wait for that.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, initialised;
void *user(void *arg) {
  (void)arg;
  int first = 0, done = 0;
  __VERIFIER_atomic_begin();
  if (initialised == 0) {
    initialised = 1;
    first = 1;
  }
  __VERIFIER_atomic_end();
  if (first) {
    x = 1;
    __VERIFIER_atomic_begin();
    initialised = 2;
    __VERIFIER_atomic_end();
  }
  __VERIFIER_atomic_begin();
  done = initialised == 2;
  __VERIFIER_atomic_end();
  if (done)
    done = x;
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, user, 0);
  return 0;
}
