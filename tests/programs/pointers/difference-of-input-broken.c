// An input that is 4 bytes before an address, by their difference, and 4 bytes are that address.
// todo: races=false
#include <pthread.h>

extern unsigned long __VERIFIER_nondet_ulong(void);
static int x;

static void *work(void *unused) {
  unsigned long n = __VERIFIER_nondet_ulong();
  switch ((unsigned long)&x - n) {
  case 4:
    *(int *)(n + 4) = 1;
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
