// CIRC (paper 1), section 6, gTxState after the fix: the variable is accessed before the call that changes the state; no race.
// expect: assertions=true races=true
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int gTxState, state;
static void change_state(void) {
  __VERIFIER_atomic_begin();
  state = 0;
  __VERIFIER_atomic_end();
}
void *thread(void *arg) {
  int old;
  (void)arg;
  __VERIFIER_atomic_begin();
  old = state;
  state = 1;
  __VERIFIER_atomic_end();
  if (old == 0) {
    gTxState = 1;
    gTxState = 2;
    change_state();
  }
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, thread, 0);
  pthread_create(&u, 0, thread, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
