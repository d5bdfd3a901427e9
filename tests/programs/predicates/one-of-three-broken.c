// There is a fourth value.
// expect: assertions=false
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
_Atomic int x;
static void *worker(void *unused) {
  int v = __VERIFIER_nondet_int();
  if (v < 0 || v > 3)
    return 0;
  x = v;
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  int now = x;
  if (now != 0)
    if (now != 1)
      assert(now == 2); //~ ERROR
  return 0;
}
