// Once the gate is open, one thread meets another that neither saw the start of.
// expect: assertions=false races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
#include <stdatomic.h>
atomic_int open_for, entered;
static void *first(void *unused) {
  while (!open_for) ;
  entered = 1;
  return unused;
}
static void *second(void *unused) {
  assert(!entered); //~ ERROR
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, first, 0);
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, second, 0);
  open_for = 1;
  return 0;
}
