// Only the last thread is joined, n times, before the elements of all are read.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
void *w(void *p) {
  *(int *)p = 1; //~ RACE
  return 0;
}
int main(void) {
  int n = __VERIFIER_nondet_int(), sum = 0;
  if (n < 0 || n > 50)
    return 0;
  pthread_t *handles = malloc(n * sizeof *handles);
  int *cells = malloc(n * sizeof *cells);
  for (int i = 0; i < n; i++)
    pthread_create(&handles[i], 0, w, &cells[i]);
  for (int i = 0; i < n; i++)
    pthread_join(handles[n - 1], 0);
  for (int i = 0; i < n; i++)
    sum += cells[i]; //~ RACE
  return sum;
}
