// Who is in a hurry takes the lock from others.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int data, busy;
static int take(int urgent) {
  int got = 0;
  __VERIFIER_atomic_begin();
  if (!busy || urgent) {
    busy = 1;
    got = 1;
  }
  __VERIFIER_atomic_end();
  return got;
}
static void give(void) {
  __VERIFIER_atomic_begin();
  busy = 0;
  __VERIFIER_atomic_end();
}
void *worker(void *unused) {
  int urgent = __VERIFIER_nondet_bool();
  if (take(urgent)) {
    data = data + 1; //~ RACE
    give();
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, worker, 0);
  }
  return 0;
}
