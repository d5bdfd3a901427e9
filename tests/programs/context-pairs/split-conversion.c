// A conversion begins when the last result was collected.
// expect: races=true
// args: --engine context
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
atomic_int state;
int result;
void *convert(void *arg) {
  (void)arg;
  int idle = 0;
  if (atomic_compare_exchange_strong(&state, &idle, 1)) {
    result = 1;
    atomic_store(&state, 2);
  }
  return 0;
}
void *collect(void *arg) {
  (void)arg;
  int done = 2;
  if (atomic_compare_exchange_strong(&state, &done, 3)) {
    result = 0;
    atomic_store(&state, 0);
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, convert, 0);
    else
      pthread_create(&t, 0, collect, 0);
  }
  return 0;
}
