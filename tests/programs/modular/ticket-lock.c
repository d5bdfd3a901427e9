// Whoever has the ticket that is served is alone, among any number of threads. Tickets do not wrap around.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
#include <stdatomic.h>
atomic_uint next, serving;
int inside;
static void *worker(void *unused) {
  unsigned mine = atomic_fetch_add(&next, 1);
  if (mine >= 1000000) while (1) ;
  while (serving != mine) ;
  inside = 1;
  assert(inside == 1);
  inside = 0;
  serving = mine + 1;
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
