// Any number of threads; others see the pointer, and use it after it was freed.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *last;
static void *work(void *unused) {
  int *mine = malloc(sizeof *mine);
  *mine = 1;
  int *theirs = last;
  if (theirs)
    *theirs = 2; //~ ERROR
  last = mine;
  free(mine);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
