// A leaf does not take the lock: it disturbs who started it.
// expect: assertions=false races=false
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int value;
static void *leaf(void *unused) {
  value = 2; //~ RACE
  int seen = value; //~ RACE
  assert(seen == 2); //~ ERROR
  value = 1; //~ RACE
  return unused;
}
static void *node(void *unused) {
  pthread_t t;
  pthread_mutex_lock(&m);
  value = 3; //~ RACE
  if (__VERIFIER_nondet_int()) pthread_create(&t, 0, leaf, 0);
  if (__VERIFIER_nondet_int()) pthread_create(&t, 0, node, 0);
  int seen = value; //~ RACE
  assert(seen == 3); //~ ERROR
  pthread_mutex_unlock(&m);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, node, 0);
  return 0;
}
