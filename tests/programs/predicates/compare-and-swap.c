// A number grows only where nobody else has changed it since it was read.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int top;
static void *worker(void *unused) {
  int seen;
  seen = top;
  if (seen < 100) {
    __VERIFIER_atomic_begin();
    if (top == seen)
      top = seen + 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  assert(top <= 100);
  return 0;
}
