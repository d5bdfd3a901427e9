// Who sees the state free and takes it in one step is alone: predicates over locals and over shared variables, any number of threads.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int state, inside;
static void *worker(void *unused) {
  int old;
  while (1) {
    __VERIFIER_atomic_begin();
    old = state;
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      inside = 1;
      assert(inside == 1);
      inside = 0;
      state = 0;
    }
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
