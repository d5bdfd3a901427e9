// The argument is an index; the array is global.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int data[100];
void *f(void *arg) {
  int i = (int)(long)arg;
  data[i] = i;
  return 0;
}
int main(void) {
  pthread_t t[100];
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 100) return 0;
  for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)(long)i);
  for (int j = 0; j < n; j++) pthread_join(t[j], 0);
  data[0] = 7;
  return data[1];
}
