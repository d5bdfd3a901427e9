// CIRC (paper 1), section 6, rec_ptr in surge: split-phase operation of an interrupt handler and a task; no race.
// expect: assertions=true races=true
// args: --engine horn
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
#include <pthread.h>
int rec_ptr, enabled = 1, posted, handling;
void *handler(void *arg) {
  int fired = 0;
  (void)arg;
  __VERIFIER_atomic_begin();
  if (enabled) {
    fired = 1;
    enabled = 0;
    posted = 1;
    handling = 1;
  }
  __VERIFIER_atomic_end();
  if (fired) {
    rec_ptr = 1;
    __VERIFIER_atomic_begin();
    handling = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *task(void *arg) {
  int run = 0;
  (void)arg;
  __VERIFIER_atomic_begin();
  if (posted && !handling) {
    posted = 0;
    run = 1;
  }
  __VERIFIER_atomic_end();
  if (run) {
    rec_ptr = 2;
    __VERIFIER_atomic_begin();
    enabled = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, handler, 0);
    pthread_create(&t, 0, task, 0);
  }
  return 0;
}
