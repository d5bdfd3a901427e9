// expect: assertions=true
// args: --engine horn
// A mutex in an object that is too small for it: its words are outside of the object. Who takes it is on an
// undefined path; the others are as they were.
#include <assert.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
static long small;
static int x;
int main(void) {
  if (__VERIFIER_nondet_bool()) pthread_mutex_lock((pthread_mutex_t *)&small);
  x = 1;
  assert(x == 1);
  return 0;
}
