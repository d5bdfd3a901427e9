// The inputs of the two threads trigger the error together.
// expect: assertions=false races=true
extern void abort(void);
void reach_error(void) { }
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>
#include <stdatomic.h>
atomic_int hits;
void *f(void *arg) {
  (void)arg;
  int x = __VERIFIER_nondet_int();
  if (x == 12345)
    hits++;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (hits == 2)
    reach_error(); //~ ERROR
  return 0;
}
