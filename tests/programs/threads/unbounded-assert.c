// Any number of threads keeps a flag zero outside the critical section.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  assert(inside == 0);
  inside = 1;
  inside = 0;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, f, 0);
  pthread_exit(0);
}
