// Two threads share an element.
// expect: races=false
// not reproduced: the execution allocates more memory than most machines have
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

void *f(void *arg) {
  int *p = arg;
  *p = 1; //~ RACE
  return 0;
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 0) return 0;
  pthread_t *t = malloc(n * sizeof *t);
  int *data = malloc(n * sizeof *data);
  for (int i = 0; i < n; i++) {
    data[i] = 0; //~ RACE
    pthread_create(&t[i], 0, f, &data[i / 2]);
  }
  for (int j = 0; j < n; j++) {
    pthread_join(t[j], 0);
  }
  free(data);
  return 0;
}
