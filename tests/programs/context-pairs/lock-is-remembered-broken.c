// A flag of the thread remembers whether it has the lock, broken: the flag is not always asked.
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
  int locked = 0, mode = __VERIFIER_nondet_bool();
  if (mode) {
    pthread_mutex_lock(&m);
    locked = 1;
  }
  if (locked || __VERIFIER_nondet_bool())
    x = x + 1; //~ RACE
  if (locked)
    pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
