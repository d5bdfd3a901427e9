// Squares modulo 13 are equal for 1 and 12, and for 5 and 8.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int a[200];
void *worker(void *argument) {
  long i = (long)argument;
  a[i * i % 13] = 1; //~ RACE
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
