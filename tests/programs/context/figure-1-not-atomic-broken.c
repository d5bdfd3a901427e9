// Figure 1 of paper 1 without its atomic block: two threads find the state to be 0.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x;
_Atomic int state;
void *worker(void *unused) {
  int old;
  while (1) {
    old = state;
    if (state == 0)
      state = 1;
    if (old == 0) {
      x = x + 1; //~ RACE
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
