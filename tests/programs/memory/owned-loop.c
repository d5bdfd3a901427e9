// Any number of threads; in each round, memory is allocated and freed.
// expect: deref=true free=true memtrack=true
// args: --engine owned
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
static void *work(void *unused) {
  while (__VERIFIER_nondet_int()) {
    char *mine = calloc(1, 16);
    mine[15] = 1;
    free(mine);
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
