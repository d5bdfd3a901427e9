// expect: bounds=false
// The same is an invalid access.
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
static long small;
int main(void) {
  if (__VERIFIER_nondet_bool()) pthread_mutex_lock((pthread_mutex_t *)&small); //~ ERROR
  return 0;
}
