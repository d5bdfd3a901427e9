// Tickets are taken by an atomic addition; none is served before it was taken.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned next, served;
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void *take(void *arg) {
  __VERIFIER_atomic_begin();
  if (next < 1000)
    next++;
  __VERIFIER_atomic_end();
  return arg;
}
void *serve(void *arg) {
  __VERIFIER_atomic_begin();
  if (served < next)
    served++;
  assert(served <= next);
  __VERIFIER_atomic_end();
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, take, 0);
    pthread_create(&t, 0, serve, 0);
  }
  return 0;
}
