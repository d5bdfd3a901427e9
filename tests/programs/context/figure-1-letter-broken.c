// Figure 1 of paper 1 to the letter: x is safe, but the state is written outside of an atomic block while others read it in one.
// expect: races=false
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
    old = state; //~ RACE
    if (state == 0) //~ RACE
      state = 1; //~ RACE
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1;
      state = 0; //~ RACE
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
