// A number is passed on from thread to thread, and may reach a limit that is an input.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int limit;
_Atomic int second, third;
static void *count(void *unused) {
  while (__VERIFIER_nondet_int()) {
    __VERIFIER_atomic_begin();
    if (third < limit) third = third + 1;
    __VERIFIER_atomic_end();
  }
  return unused;
}
static void *pass(void *unused) {
  while (__VERIFIER_nondet_int()) second = third;
  return unused;
}
static void *look(void *unused) {
  int seen = second;
  assert(seen < limit); //~ ERROR
  return unused;
}
int main(void) {
  pthread_t t;
  limit = __VERIFIER_nondet_int();
  __VERIFIER_assume(limit >= 0);
  pthread_create(&t, 0, count, 0);
  pthread_create(&t, 0, pass, 0);
  pthread_create(&t, 0, look, 0);
  return 0;
}
