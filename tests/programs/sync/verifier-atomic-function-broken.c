// A function with another name is interrupted.
// expect: assertions=false races=false
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
  __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
void reach_error() { __assert_fail("0", "test.c", 3, "reach_error"); }
#include <pthread.h>
int n;
void interrupted_inc(void) {
  int t = n; //~ RACE
  n = t + 1; //~ RACE
}
void *f(void *arg) { (void)arg; interrupted_inc(); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (n != 2)
    reach_error(); //~ ERROR
  return 0;
}
