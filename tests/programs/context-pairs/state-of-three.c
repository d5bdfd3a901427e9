// Who takes the state from 0 to 1 owns x until it is 0 again.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, state;
void *worker(void *arg) {
  (void)arg;
  int mine = 0;
  __VERIFIER_atomic_begin();
  if (state == 0) {
    state = 1;
    mine = 1;
  }
  __VERIFIER_atomic_end();
  if (mine) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    state = 2;
    __VERIFIER_atomic_end();
    x = x - 1;
    __VERIFIER_atomic_begin();
    state = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
