// CIRC (paper 1), Figure 1, broken: the test and the set of state are in two atomic blocks.
// expect: assertions=true races=false
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
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1; //~ RACE
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
