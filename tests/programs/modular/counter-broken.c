// The lock is given back between reading and writing: a thread sees another value than it wrote.
// expect: assertions=false races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned value;
static void *worker(void *unused) {
  unsigned seen;
  pthread_mutex_lock(&m);
  if (value == 0u - 1) {
    pthread_mutex_unlock(&m);
    return unused;
  }
  seen = value;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  value = value + 1;
  assert(seen == value - 1); //~ ERROR
  pthread_mutex_unlock(&m);
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
