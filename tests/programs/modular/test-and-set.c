// A flag is tested and set in one step; whoever set it is alone, among any number of threads.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int state, inside;
static void *worker(void *unused) {
  int old;
  while (__VERIFIER_nondet_int()) {
    __VERIFIER_atomic_begin();
    old = state;
    if (old == 0) state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      inside = 1;
      int seen = inside;
      assert(seen == 1);
      inside = 0;
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
    }
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
