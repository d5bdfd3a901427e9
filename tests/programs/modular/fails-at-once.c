// A thread that would do nothing but fail, if it was ever started.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int started;
static void *worker(void *unused) {
  assert(0);
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    if (started) pthread_create(&t, 0, worker, 0);
  return 0;
}
