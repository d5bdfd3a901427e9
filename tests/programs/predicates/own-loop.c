// Each thread counts for itself: predicates over locals.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
static void *worker(void *unused) {
  int i = 0;
  while (i < 10 && __VERIFIER_nondet_int())
    i++;
  assert(i <= 10);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
