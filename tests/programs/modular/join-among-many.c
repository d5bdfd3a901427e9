// One thread is waited for, while any number of others run.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
#include <stdatomic.h>
atomic_int ready, noise;
static void *helper(void *unused) {
  ready = 1;
  return unused;
}
static void *worker(void *unused) {
  noise = noise + 1;
  return unused;
}
int main(void) {
  pthread_t h, t;
  pthread_create(&h, 0, helper, 0);
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  pthread_join(h, 0);
  assert(ready == 1);
  return 0;
}
