// Threads start threads, which start threads: all under one lock.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int value;
static void *leaf(void *unused) {
  pthread_mutex_lock(&m);
  value = 2;
  int seen = value;
  assert(seen == 2);
  value = 1;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *node(void *unused) {
  pthread_t t;
  pthread_mutex_lock(&m);
  value = 3;
  if (__VERIFIER_nondet_int()) pthread_create(&t, 0, leaf, 0);
  if (__VERIFIER_nondet_int()) pthread_create(&t, 0, node, 0);
  int seen = value;
  assert(seen == 3);
  pthread_mutex_unlock(&m);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, node, 0);
  return 0;
}
