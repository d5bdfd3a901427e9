// A blocking assumption in an atomic function models a lock.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int lock, n;
void __VERIFIER_atomic_acquire(void) {
  __VERIFIER_assume(lock == 0);
  lock = 1;
}
void __VERIFIER_atomic_release(void) { lock = 0; }
void *f(void *arg) {
  (void)arg;
  __VERIFIER_atomic_acquire();
  n++;
  __VERIFIER_atomic_release();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (n != 2)
    reach_error();
  return 0;
}
