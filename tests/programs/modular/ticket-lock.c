// Whoever has the ticket that is served is alone, among any number of threads. Tickets do not wrap around.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <stdatomic.h>
atomic_uint next, serving;
int inside;
static void *worker(void *unused) {
  unsigned mine;
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(next != 0u - 1);
  mine = next;
  next = mine + 1;
  __VERIFIER_atomic_end();
  while (serving != mine) ;
  inside = 1;
  int seen = inside;
  assert(seen == 1);
  inside = 0;
  serving = mine + 1;
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
