// Every path of the function releases the lock.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int work(void) {
  pthread_mutex_lock(&m);
  if (__VERIFIER_nondet_bool()) {
    pthread_mutex_unlock(&m);
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
