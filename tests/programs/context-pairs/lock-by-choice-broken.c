// Each of two locks belongs to one of two variables, broken: x is looked at with both.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int x, y;
void *worker(void *arg) {
  (void)arg;
  int i = __VERIFIER_nondet_bool();
  if (i == 0)
    pthread_mutex_lock(&m);
  else
    pthread_mutex_lock(&n);
  if (i == 1 || x == 7) //~ RACE
    x = x + 1; //~ RACE
  else
    y = y + 1; //~ RACE
  if (i == 0)
    pthread_mutex_unlock(&m);
  else
    pthread_mutex_unlock(&n);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
