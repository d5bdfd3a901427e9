// Any number of threads give a lock back on all paths.
// todo: deadlock=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&a);
  if (__VERIFIER_nondet_int()) {
    pthread_mutex_unlock(&a);
    return 0;
  }
  pthread_mutex_unlock(&a);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, f, 0);
  pthread_exit(0);
}
