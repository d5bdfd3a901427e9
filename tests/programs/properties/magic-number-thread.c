// The input of the second thread cannot be both numbers.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>
#include <stdatomic.h>
atomic_int hits;
void *f(void *arg) {
  (void)arg;
  int x = __VERIFIER_nondet_int();
  if (x == 12345&& x == 54321)
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
    reach_error();
  return 0;
}
