// In one atomic region nobody comes in between, whatever it waits for.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern int __VERIFIER_nondet_int(void);
int asked, answered;
void *answer(void *arg) {
  (void)arg;
  __VERIFIER_atomic_begin();
  if (asked)
    answered = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, answer, 0);
  int again, seen;
  __VERIFIER_atomic_begin();
  asked = 1;
  do
    again = __VERIFIER_nondet_int();
  while (again);
  seen = answered;
  __VERIFIER_atomic_end();
  assert(seen == 0);
  return 0;
}
