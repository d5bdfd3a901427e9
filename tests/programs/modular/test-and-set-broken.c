// The flag is never set: two threads get in.
// expect: assertions=false races=false
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
    if (old == 2) state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      inside = 1; //~ RACE
      int seen = inside; //~ RACE
      assert(seen == 1); //~ ERROR
      inside = 0; //~ RACE
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
