// Peterson's algorithm without giving way: both get in.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern int __VERIFIER_nondet_int(void);
atomic_int wants0, wants1, turn, inside;
static void *left(void *unused) {
  while (__VERIFIER_nondet_int()) {
    wants0 = 1;
    while (wants1 && turn == 1) {
    }
    inside = 1;
    assert(inside == 1); //~ ERROR
    wants0 = 0;
  }
  return 0;
}
static void *right(void *unused) {
  while (__VERIFIER_nondet_int()) {
    wants1 = 1;
    while (wants0 && turn == 0) {
    }
    inside = 2;
    assert(inside == 2); //~ ERROR
    wants1 = 0;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, left, 0);
  pthread_create(&b, 0, right, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
