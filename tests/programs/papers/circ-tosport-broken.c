// CIRC (paper 1), tosPort in sense: with the interrupt always enabled the state is reset too early.
// expect: assertions=true races=false
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int tosPort, state, irq_enabled = 1;
void *thread(void *arg) {
  int old;
  (void)arg;
  __VERIFIER_atomic_begin();
  old = state;
  state = 1;
  __VERIFIER_atomic_end();
  if (old == 0) {
    tosPort = 1; //~ RACE
    __VERIFIER_atomic_begin();
    irq_enabled = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *interrupt(void *arg) {
  (void)arg;
  __VERIFIER_atomic_begin();
  if (irq_enabled) {
    irq_enabled = 0;
    state = 0;
  }
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_create(&c, 0, interrupt, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return 0;
}
