// Each of two threads adds a number that it reads; no pair of numbers makes the forbidden sum.
// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern int __VERIFIER_nondet_int(void);
atomic_int sum;
atomic_int done;
static void *add(void *unused) {
  int mine = __VERIFIER_nondet_int();
  if (mine > 0 && mine < 1000000 && mine < 1000) {
    sum += mine;
    done += 1;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  while (done < 2) {
  }
  assert(sum != 2000);
  return 0;
}
