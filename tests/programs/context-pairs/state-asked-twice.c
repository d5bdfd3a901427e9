// The state is taken, and asked for again before x is used.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, owner;
void *worker(void *arg) {
  (void)arg;
  int won = 0;
  __VERIFIER_atomic_begin();
  if (owner == 0) {
    owner = 1;
    won = 1;
  }
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  if (won == 1 && owner == 1)
    won = won + 1;
  __VERIFIER_atomic_end();
  if (won == 2) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    owner = 0;
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
