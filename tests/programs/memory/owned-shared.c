// Any number of threads; what a thread owns does not leave it.
// expect: deref=true free=true memtrack=true
// args: --engine owned
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int last;
static void *work(void *unused) {
  int *mine = malloc(sizeof *mine);
  *mine = 1;
  last = *mine;
  free(mine);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
