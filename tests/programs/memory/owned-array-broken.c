// Any number of threads; each fills an array of its own, and one element too many.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
static void *work(void *unused) {
  int *mine = malloc(8 * sizeof *mine);
  for (int i = 0; i <= 8; i++)
    mine[i] = i; //~ ERROR
  free(mine);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
