// One more thread of the family is started after the loop.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

void *f(void *arg) {
  int *p = arg;
  *p = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  static int data[8];
  void *(*start)(void *) = f;
  for (int i = 0; i < 4; i++) pthread_create(&t, 0, start, &data[i]);
  pthread_create(&t, 0, start, &data[1]);
  return 0;
}
