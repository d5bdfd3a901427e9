// x and y have a state each, broken: both states let a thread use x.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, y, one, two;
void *worker(void *arg) {
  (void)arg;
  int which = __VERIFIER_nondet_bool(), mine = 0;
  __VERIFIER_atomic_begin();
  if (which == 0 && one == 0) {
    one = 1;
    mine = 1;
  } else if (which == 1 && two == 0) {
    two = 1;
    mine = 1;
  }
  __VERIFIER_atomic_end();
  if (mine && which == 0) {
    x = x + 1; //~ RACE
    __VERIFIER_atomic_begin();
    one = 0;
    __VERIFIER_atomic_end();
  } else if (mine) {
    x = x + 1; //~ RACE
    __VERIFIER_atomic_begin();
    two = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
