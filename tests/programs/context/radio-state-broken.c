// The last write comes after the call that gives the driver free.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int tx_state, state;
static void set_state(int next) {
  __VERIFIER_atomic_begin();
  state = next;
  __VERIFIER_atomic_end();
}
void *send(void *unused) {
  int mine = 0;
  __VERIFIER_atomic_begin();
  if (state == 0) {
    state = 1;
    mine = 1;
  }
  __VERIFIER_atomic_end();
  if (mine) {
    tx_state = 1; //~ RACE
    set_state(2);
    if (tx_state == 1) //~ RACE
      tx_state = 2; //~ RACE
    set_state(0);
    tx_state = 0; //~ RACE
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, send, 0);
  }
  return 0;
}
