// The second thread does in one round of its loop what the first one does in two: the first goes two rounds for each of its rounds, and both are at the same place then.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern unsigned __VERIFIER_nondet_uint(void);
unsigned n, x, y;
static void *slow(void *unused) {
  for (unsigned i = 0; i < 2 * n; i++) x = 5 * x + 1;
  return 0;
}
static void *quick(void *unused) {
  for (unsigned i = 0; i < 2 * n; i++) {
    y = 5 * y + 1;
    i++;
    y = 5 * y + 1;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  n = __VERIFIER_nondet_uint();
  if (n > 1000000000) return 0;
  x = y = __VERIFIER_nondet_uint();
  pthread_create(&a, 0, slow, 0);
  pthread_create(&b, 0, quick, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x == y);
  return 0;
}
