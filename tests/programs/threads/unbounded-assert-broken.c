// A thread checks the flag outside the critical section.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside;
void *f(void *arg) {
  (void)arg;
  int r = inside; //~ RACE
  assert(r == 0); //~ ERROR
  pthread_mutex_lock(&m);
  inside = 1; //~ RACE
  inside = 0; //~ RACE
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, f, 0);
  pthread_exit(0);
}
