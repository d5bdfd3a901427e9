// The lock is taken only where there are other threads, broken: sometimes it is not, though there are.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, shared;
void *worker(void *arg) {
  (void)arg;
  if (shared)
    pthread_mutex_lock(&m);
  x = x + 1; //~ RACE
  if (shared)
    pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int n = __VERIFIER_nondet_bool();
  if (n) {
    shared = __VERIFIER_nondet_bool();
    while (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, worker, 0);
  }
  worker(0);
  return 0;
}
