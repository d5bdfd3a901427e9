// Each thread gets an object of its own, and frees it.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *last;
void *f(void *arg) {
  int *p = arg;
  *p = 2;
  free(p);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    int *p = malloc(sizeof *p);
    *p = 1;
    pthread_create(&t, 0, f, p);
  }
  return 0;
}
