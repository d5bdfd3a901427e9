// One thread; all is freed before `exit`.
// expect: deref=true free=true memtrack=true memcleanup=true
// args: --engine owned
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  while (__VERIFIER_nondet_int()) {
    int *mine = malloc(sizeof *mine);
    *mine = __VERIFIER_nondet_int();
    int is_last = *mine == 3;
    free(mine);
    if (is_last)
      exit(1);
  }
  return 0;
}
