// One thread; memory is left where `exit` is called.
// expect: memcleanup=false
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  while (__VERIFIER_nondet_int()) {
    int *mine = malloc(sizeof *mine); //~ ERROR
    *mine = __VERIFIER_nondet_int();
    if (*mine == 3)
      exit(1);
    free(mine);
  }
  return 0;
}
