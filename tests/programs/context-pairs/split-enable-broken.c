// A handler runs while interrupts are enabled, and disables them first, broken: it does not disable them.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int buffer, enabled;
void *handler(void *arg) {
  (void)arg;
  int fires = 0;
  __VERIFIER_atomic_begin();
  if (enabled) {
    fires = 1;
  }
  __VERIFIER_atomic_end();
  if (fires) {
    buffer = buffer + 1; //~ RACE
    __VERIFIER_atomic_begin();
    enabled = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, handler, 0);
  buffer = 0; //~ RACE
  __VERIFIER_atomic_begin();
  enabled = 1;
  __VERIFIER_atomic_end();
  return 0;
}
