// Half of the index names the element.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int data[100];
void *f(void *arg) {
  int i = (int)(long)arg;
  data[i / 2] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t[100];
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 100) return 0;
  for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)(long)i);
  return 0;
}
