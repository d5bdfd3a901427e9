// One write comes before the lock is taken.
// expect: assertions=false
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
static void *worker(void *unused) {
  x = 1;
  pthread_mutex_lock(&m);
  x = 0;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  pthread_mutex_lock(&m);
  assert(x == 0); //~ ERROR
  pthread_mutex_unlock(&m);
  return 0;
}
