// A truth value is 0 or 1.
// expect: assertions=true
// args: --engine queries
#include <assert.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
int shared;
static void *worker(void *unused) {
  shared = 1;
  return unused;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, worker, 0);
  _Bool input = __VERIFIER_nondet_bool();
  _Bool other = __VERIFIER_nondet_bool();
  assert(input + other <= 2 + shared);
  return 0;
}
