// The thread moves its argument first.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

void *f(void *arg) {
  if (__VERIFIER_nondet_int()) arg = (int *)arg + 1;
  *(int *)arg = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  static int data[8];
  for (int i = 0; i < 4; i++) pthread_create(&t, 0, f, &data[i]);
  return 0;
}
