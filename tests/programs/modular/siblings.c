// Threads of one kind wait for what never comes; those of another kind, started later, see that.
// expect: assertions=true races=true
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
  assert(!entered);
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, first, 0);
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, second, 0);
  open_for = 0;
  return 0;
}
