// CIRC (paper 1), Figure 1: test-and-set with state and old in any number of threads; no race on x.
// expect: assertions=true races=true
// args: --engine horn
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
#include <pthread.h>
int x, state;
void *thread(void *arg) {
  int old;
  (void)arg;
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
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, thread, 0);
  thread(0);
}
