// One thread at a time is inside, broken: two are.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, inside;
void *worker(void *arg) {
  (void)arg;
  int in = 0;
  __VERIFIER_atomic_begin();
  if (inside <= 1) {
    inside = inside + 1;
    in = 1;
  }
  __VERIFIER_atomic_end();
  if (in) {
    x = x + 1; //~ RACE
    __VERIFIER_atomic_begin();
    inside = inside - 1;
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
