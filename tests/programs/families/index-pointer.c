// The argument is an index into an array that a global pointer names; each element is used once its thread was joined.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *data;
void *f(void *arg) {
  int i = (int)(long)arg;
  data[i] = i;
  return 0;
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 0) return 0;
  pthread_t *t = malloc(n * sizeof *t);
  data = malloc(n * sizeof *data);
  for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)(long)i);
  for (int j = 0; j < n; j++) {
    pthread_join(t[j], 0);
    data[j]++;
  }
  free(data);
  return 0;
}
