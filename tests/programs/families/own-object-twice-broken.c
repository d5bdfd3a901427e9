// Two threads may get the same object.
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
    *p = 1;
    pthread_create(&t, 0, f, p);
    if (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, p);
  }
  return 0;
}
