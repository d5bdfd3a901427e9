// The interrupt comes at any time, also between the state and the port.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int port, state, enabled;
void *sample(void *unused) {
  int mine = 0;
  __VERIFIER_atomic_begin();
  if (state == 0) {
    state = 1;
    mine = 1;
  }
  __VERIFIER_atomic_end();
  if (mine) {
    port = 1; //~ RACE
    __VERIFIER_atomic_begin();
    enabled = 1;
    __VERIFIER_atomic_end();
  }
  return unused;
}
void *ready(void *unused) {
  __VERIFIER_atomic_begin();
  if (__VERIFIER_nondet_bool()) {
    enabled = 0;
    state = 0;
  }
  __VERIFIER_atomic_end();
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, sample, 0);
    else
      pthread_create(&t, 0, ready, 0);
  }
  return 0;
}
