// Main joins each thread with the lock that it takes.
// expect: deadlock=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&t, 0, f, 0);
    pthread_mutex_lock(&a);
    pthread_join(t, 0);
    pthread_mutex_unlock(&a);
  }
  return 0;
}
