// Boppo (paper 3), ART-PC-n, broken: the arbitrary values of two variables may both be true.
// expect: assertions=false races=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern _Bool __VERIFIER_nondet_bool(void);
atomic_bool g1, g2, g3;
void *f(void *arg) {
  (void)arg;
  _Bool v = __VERIFIER_nondet_bool();
  g1 = v;
  v = __VERIFIER_nondet_bool();
  g2 = v;
  g3 = g1 && g2;
  assert(!g3); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  while (1)
    pthread_create(&t, 0, f, 0);
}
