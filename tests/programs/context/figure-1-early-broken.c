// Figure 1 of paper 1, with the state given free before x is written.
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
    old = state;
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
      x = x + 1; //~ RACE
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
