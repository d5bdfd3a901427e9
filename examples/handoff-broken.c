// As handoff.c, but the state is given back before the last access.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;
_Atomic int state;

void *worker(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin();
    int old = state;
    if (old == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      state = 0;
      x = x + 1;
    }
  }
  return unused;
}

int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
