// Two kinds of threads take turns, and one of a kind claims the turn.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, turn;
void *even(void *arg) {
  (void)arg;
  int go = 0;
  __VERIFIER_atomic_begin();
  if (turn == 0) {
    turn = 2;
    go = 1;
  }
  __VERIFIER_atomic_end();
  if (go) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    turn = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *odd(void *arg) {
  (void)arg;
  int go = 0;
  __VERIFIER_atomic_begin();
  if (turn == 1) {
    turn = 3;
    go = 1;
  }
  __VERIFIER_atomic_end();
  if (go) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    turn = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, even, 0);
    else
      pthread_create(&t, 0, odd, 0);
  }
  return 0;
}
