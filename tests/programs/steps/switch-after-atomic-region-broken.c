// Between two atomic regions others run, though the last step of the first one has nothing to do with them.
// expect: assertions=false
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
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  seen = answered;
  __VERIFIER_atomic_end();
  assert(seen == 0); //~ ERROR
  return 0;
}
