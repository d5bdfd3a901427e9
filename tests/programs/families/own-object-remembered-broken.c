// The last object is given away again.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *last;
void *f(void *arg) {
  int *p = arg;
  *p = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    int *p = malloc(sizeof *p);
    if (last && __VERIFIER_nondet_int()) p = last;
    last = p;
    pthread_create(&t, 0, f, p);
  }
  return 0;
}
