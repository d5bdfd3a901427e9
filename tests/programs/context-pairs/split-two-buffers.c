// Two buffers are filled and drained.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int first, second, first_full, second_full;
void *filler(void *arg) {
  (void)arg;
  int mine = 0;
  if (__VERIFIER_nondet_bool()) {
    __VERIFIER_atomic_begin();
    if (first_full == 0) {
      first_full = 1;
      mine = 1;
    }
    __VERIFIER_atomic_end();
    if (mine) {
      first = 1;
      __VERIFIER_atomic_begin();
      first_full = 2;
      __VERIFIER_atomic_end();
    }
  } else {
    __VERIFIER_atomic_begin();
    if (second_full == 0) {
      second_full = 1;
      mine = 1;
    }
    __VERIFIER_atomic_end();
    if (mine) {
      second = 1;
      __VERIFIER_atomic_begin();
      second_full = 2;
      __VERIFIER_atomic_end();
    }
  }
  return 0;
}
void *drainer(void *arg) {
  (void)arg;
  int mine = 0;
  if (__VERIFIER_nondet_bool()) {
    __VERIFIER_atomic_begin();
    if (first_full == 2) {
      first_full = 3;
      mine = 1;
    }
    __VERIFIER_atomic_end();
    if (mine) {
      first = 0;
      __VERIFIER_atomic_begin();
      first_full = 0;
      __VERIFIER_atomic_end();
    }
  } else {
    __VERIFIER_atomic_begin();
    if (second_full == 2) {
      second_full = 3;
      mine = 1;
    }
    __VERIFIER_atomic_end();
    if (mine) {
      second = 0;
      __VERIFIER_atomic_begin();
      second_full = 0;
      __VERIFIER_atomic_end();
    }
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, filler, 0);
    else
      pthread_create(&t, 0, drainer, 0);
  }
  return 0;
}
