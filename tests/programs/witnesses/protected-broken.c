// The variable may stay 1 after the section.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  assert(count == 0); //~ ERROR
  count = 1;
  if (__VERIFIER_nondet_int()) count = 0;
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
