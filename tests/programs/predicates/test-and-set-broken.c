// Two threads see the state free before one takes it.
// expect: assertions=false
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
    old = state;
    if (old == 0)
      state = 1;
    if (old == 0) {
      inside = 1;
      assert(inside == 1); //~ ERROR
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
