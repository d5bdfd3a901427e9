// It grows.
// expect: assertions=false
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
    top = seen + 1 > top ? top + 1 : seen;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  assert(top <= 0); //~ ERROR
  return 0;
}
