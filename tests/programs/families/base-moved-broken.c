// The second array of threads overlaps the first.
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
  pthread_t t[4];
  static int data[8];
  int *base = data;
  for (int i = 0; i < 3; i++) {
    pthread_create(&t[i], 0, f, &base[i]);
    base = data + (2 - i);
  }
  return 0;
}
