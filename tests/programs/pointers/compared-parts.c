// An input of which all parts are those of an address is not used as one.
// expect: races=true
#include <pthread.h>

extern unsigned long __VERIFIER_nondet_ulong(void);
static int x, same;

static void *work(void *unused) {
  unsigned long n = __VERIFIER_nondet_ulong(), address = (unsigned long)&x;
  if ((int)n == (int)address && n >> 32 == address >> 32)
    same = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
