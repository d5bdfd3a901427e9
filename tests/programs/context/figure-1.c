// Figure 1 of paper 1: the thread that finds the state to be 0 sets it and is alone with x until it is 0 again. The last write of the state is in an atomic block of its own, since
// outside of one it would race with those in the first.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, state;
void *worker(void *unused) {
  int old;
  while (1) {
    __VERIFIER_atomic_begin();
    old = state;
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1;
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
    }
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
