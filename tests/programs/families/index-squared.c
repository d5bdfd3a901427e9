// No two of the first squares are equal.
// expect: races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int a[200];
void *worker(void *argument) {
  long i = (long)argument;
  a[i * i] = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 12)
    return 0;
  for (long i = 0; i < n; i++)
    pthread_create(&t, 0, worker, (void *)i);
  return 0;
}
