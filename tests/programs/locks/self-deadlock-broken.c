// An early return keeps the lock and the next call blocks on it.
// expect: assertions=true races=true deadlock=false
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int work(void) {
  pthread_mutex_lock(&m); //~ ERROR
  if (__VERIFIER_nondet_bool()) {
    return 1;
  }
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  work();
  work();
  return 0;
}
