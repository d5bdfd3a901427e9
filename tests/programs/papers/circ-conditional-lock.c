// CIRC (paper 1), introduction: conditional locking, the state variable is toggled in other procedures; no race.
// expect: assertions=true races=true
// args: --engine horn
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
#include <pthread.h>
int count, state;
static int try_acquire(void) {
  int got = 0;
  __VERIFIER_atomic_begin();
  if (state == 0) {
    state = 1;
    got = 1;
  }
  __VERIFIER_atomic_end();
  return got;
}
static void release(void) {
  __VERIFIER_atomic_begin();
  state = 0;
  __VERIFIER_atomic_end();
}
void *thread(void *arg) {
  (void)arg;
  int got = try_acquire();
  if (got) {
    count = 1;
    release();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, thread, 0);
  return 0;
}
