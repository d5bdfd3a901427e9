// The task enables the interrupt before it is done.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int record, enabled = 1, posted;
void *interrupt(void *unused) {
  int fires = 0;
  __VERIFIER_atomic_begin();
  if (enabled) {
    enabled = 0;
    fires = 1;
  }
  __VERIFIER_atomic_end();
  if (fires) {
    record = 1; //~ RACE
    __VERIFIER_atomic_begin();
    posted = 1;
    __VERIFIER_atomic_end();
  }
  return unused;
}
void *task(void *unused) {
  int runs = 0;
  __VERIFIER_atomic_begin();
  if (posted) {
    posted = 0;
    runs = 1;
  }
  __VERIFIER_atomic_end();
  if (runs) {
    __VERIFIER_atomic_begin();
    enabled = 1;
    __VERIFIER_atomic_end();
    record = 0; //~ RACE
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, interrupt, 0);
    else
      pthread_create(&t, 0, task, 0);
  }
  return 0;
}
