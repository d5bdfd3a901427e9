// One input is compared with an address, the other one is an index: neither leads to what the other is about.
// expect: races=true
#include <pthread.h>
#include <stdint.h>

extern unsigned long __VERIFIER_nondet_ulong(void);
static int x;
static int cells[4];
static int same;

static void *worker(void *unused) {
  unsigned long n = __VERIFIER_nondet_ulong();
  if (n < 4) cells[n] = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  unsigned long m = __VERIFIER_nondet_ulong();
  if (m == (uintptr_t)&x) same = 1;
  pthread_create(&thread, 0, worker, 0);
  x = 1;
  pthread_join(thread, 0);
  return cells[0] + same;
}
