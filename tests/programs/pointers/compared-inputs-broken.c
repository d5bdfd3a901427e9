// An input that is equal to an input that is equal to an address is that address.
// todo: races=false
#include <pthread.h>
#include <stdint.h>

extern unsigned long __VERIFIER_nondet_ulong(void);
static int x;

static void *worker(void *unused) {
  unsigned long m = __VERIFIER_nondet_ulong(), n = __VERIFIER_nondet_ulong();
  if (m == (uintptr_t)&x && n == m) *(int *)n = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  x = 1;
  pthread_join(thread, 0);
  return x;
}
