// A thread that does nothing but fail.
// expect: assertions=false races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
static void *worker(void *unused) {
  assert(0); //~ ERROR
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
