// Elements are different, but each thread also writes the next one.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int a[200];
void *worker(void *argument) {
  long i = (long)argument;
  a[7 * i % 12] = 1; //~ RACE
  a[7 * i % 12 + 1] = 2; //~ RACE
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
