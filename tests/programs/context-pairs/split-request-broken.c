// A request goes to a handler, which ends the operation, broken: the client ends it itself.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int buffer, busy, pending;
void *client(void *arg) {
  (void)arg;
  int mine = 0;
  __VERIFIER_atomic_begin();
  if (busy == 0) {
    busy = 1;
    mine = 1;
  }
  __VERIFIER_atomic_end();
  if (mine) {
    buffer = 1; //~ RACE
    __VERIFIER_atomic_begin();
    pending = 1;
    busy = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *handler(void *arg) {
  (void)arg;
  int go = 0;
  __VERIFIER_atomic_begin();
  if (pending == 1) {
    pending = 2;
    go = 1;
  }
  __VERIFIER_atomic_end();
  if (go) {
    buffer = 0; //~ RACE
    __VERIFIER_atomic_begin();
    pending = 0;
    busy = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, client, 0);
    else
      pthread_create(&t, 0, handler, 0);
  }
  return 0;
}
