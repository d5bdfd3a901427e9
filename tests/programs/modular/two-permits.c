// Two permits for any number of threads. That one who has a permit sees at most one left rests on three threads never having one at the same time: every two of them are not enough to see that.
// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
_Atomic int permits = 2;
static void *work(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(permits > 0);
  permits = permits - 1;
  __VERIFIER_atomic_end();
  assert(permits <= 1);
  __VERIFIER_atomic_begin();
  permits = permits + 1;
  __VERIFIER_atomic_end();
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, work, 0);
  return 0;
}
