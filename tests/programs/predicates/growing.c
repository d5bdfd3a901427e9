// What a thread saw stays below what only grows: a predicate over a local and a shared variable, which other threads change.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
unsigned value;
static void *worker(void *unused) {
  unsigned seen;
  __VERIFIER_atomic_begin();
  seen = value;
  if (value != 4294967295u)
    value = value + 1;
  __VERIFIER_atomic_end();
  if (seen == 4294967295u)
    return 0;
  __VERIFIER_atomic_begin();
  unsigned now = value;
  __VERIFIER_atomic_end();
  assert(now > seen);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
