// x is used only where the lock was free, broken: also where it was not.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
void *worker(void *arg) {
  (void)arg;
  if (pthread_mutex_trylock(&m) == 0) {
    x = x + 1; //~ RACE
    pthread_mutex_unlock(&m);
  } else {
    x = 0; //~ RACE
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
