// The lock is taken only where there are other threads.
// expect: races=true
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
  x = x + 1;
  if (shared)
    pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int n = __VERIFIER_nondet_bool();
  if (n) {
    shared = 1;
    while (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, worker, 0);
  }
  worker(0);
  return 0;
}
