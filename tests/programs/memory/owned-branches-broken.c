// Any number of threads; on one path, memory is freed by both of its names.
// expect: free=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
static void *work(void *unused) {
  int *mine = malloc(sizeof *mine);
  int *other = mine;
  *mine = __VERIFIER_nondet_int();
  if (*other > 3)
    free(other);
  free(mine); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
