// A radio driver of which one thread at a time sends. Its state is written before the call that gives the driver free (the gTxState story of section 6 of paper 1).
// expect: races=true
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
    tx_state = 1;
    set_state(2);
    if (tx_state == 1)
      tx_state = 2;
    tx_state = 0;
    set_state(0);
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
