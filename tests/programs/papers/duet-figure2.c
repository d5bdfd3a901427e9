// DUET (paper 4), Figure 2 (from its description): global c and local incr, two code segments in any number of threads; c stays non-negative.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int c;
void *U(void *arg) {
  int incr = 0;
  (void)arg;
  incr = 1;
  __VERIFIER_atomic_begin();
  c = c + incr;
  __VERIFIER_atomic_end();
  return 0;
}
void *V(void *arg) {
  int seen;
  (void)arg;
  __VERIFIER_atomic_begin();
  seen = c;
  __VERIFIER_atomic_end();
  assert(seen >= 0);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, __VERIFIER_nondet_bool() ? U : V, 0);
  return 0;
}
