// A handle is replaced by another one before the join.
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
  int n = __VERIFIER_nondet_int();
  if (n < 0) return 0;
  pthread_t *t = malloc(n * sizeof *t);
  int *data = malloc(n * sizeof *data);
  for (int i = 0; i < n; i++) {
    data[i] = i;
    pthread_create(&t[i], 0, f, &data[i]);
  }
  if (n > 1) t[1] = t[0];
  for (int j = 0; j < n; j++) {
    pthread_join(t[j], 0);
  }
  free(data); //~ RACE
  return 0;
}
