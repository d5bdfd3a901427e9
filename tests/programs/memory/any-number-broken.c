// Any number of threads: each uses its memory after it is freed, frees it twice, or loses it.
// expect: deref=false free=false memtrack=false memcleanup=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
static void *work(void *unused) {
  int *mine = malloc(sizeof *mine); //~ ERROR
  *mine = 1;
  int what = __VERIFIER_nondet_int();
  if (what == 1)
    return 0;
  free(mine);
  if (what == 2)
    *mine = 2; //~ ERROR
  if (what == 3)
    free(mine); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
