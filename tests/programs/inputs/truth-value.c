// An input that is a truth value is found along with the schedule.
// expect: assertions=false
// args: --engine symbolic
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
  if (input && !other) assert(!shared); //~ ERROR
  return 0;
}
