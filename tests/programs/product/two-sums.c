// Two threads add up the same inputs, each for itself; afterwards the sums are the same, whatever their number.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern unsigned __VERIFIER_nondet_uint(void);
unsigned n, step, first, second;
static void *one(void *unused) {
  for (unsigned i = 0; i < n; i++) first += step;
  return 0;
}
static void *two(void *unused) {
  for (unsigned i = 0; i < n; i++) second += step;
  return 0;
}
int main(void) {
  pthread_t a, b;
  n = __VERIFIER_nondet_uint();
  step = 3;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(first == second);
  return 0;
}
