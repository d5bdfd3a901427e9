// An input that is 4 bytes before an address is used as a number only.
// expect: races=true
#include <pthread.h>

extern unsigned long __VERIFIER_nondet_ulong(void);
static int x, near;

static void *work(void *unused) {
  unsigned long n = __VERIFIER_nondet_ulong();
  switch ((unsigned long)&x - n) {
  case 4:
    near = 1;
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
