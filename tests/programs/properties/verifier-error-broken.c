// __VERIFIER_error is reached in one schedule.
// expect: assertions=false races=true
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_error(void);
atomic_int x;
void *f(void *arg) {
  (void)arg;
  x = 1;
  x = 2;
  x = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  if (x == 2)
    __VERIFIER_error(); //~ ERROR
  return 0;
}
