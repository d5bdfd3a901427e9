// Taking a ticket is not one step: two threads get the same one.
// expect: assertions=false races=false
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
#include <stdatomic.h>
atomic_uint next, serving;
int inside;
static void *worker(void *unused) {
  unsigned mine = next;
  next = mine + 1;
  while (serving != mine) ;
  inside = 1; //~ RACE
  int seen = inside; //~ RACE
  assert(seen == 1); //~ ERROR
  inside = 0; //~ RACE
  serving = mine + 1;
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);
  return 0;
}
