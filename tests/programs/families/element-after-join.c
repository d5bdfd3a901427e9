// The parent uses an element once its thread was joined, while others run.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

void *f(void *arg) {
  int *p = arg;
  *p = 1;
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
  for (int j = 0; j < n; j++) {
    pthread_join(t[j], 0);
    data[j]++;
  }
  free(data);
  return 0;
}
