// Any number of threads; in one round of several, memory is not freed.
// expect: memtrack=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
static void *work(void *unused) {
  while (__VERIFIER_nondet_int()) {
    char *mine = calloc(1, 16); //~ ERROR
    mine[15] = 1;
    if (__VERIFIER_nondet_int())
      continue;
    free(mine);
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
