// A function whose name begins with __VERIFIER_atomic_ runs without interruption.
// expect: assertions=true races=true
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
  __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
void reach_error() { __assert_fail("0", "test.c", 3, "reach_error"); }
#include <pthread.h>
int n;
void __VERIFIER_atomic_inc(void) {
  int t = n;
  n = t + 1;
}
void *f(void *arg) { (void)arg; __VERIFIER_atomic_inc(); return 0; }
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
