// The difference of an address and an input is looked at where the memory is not used any more.
// expect: deref=true
// args: --engine owned
#include <stdlib.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

int main(void) {
  char *mine = malloc(4);
  unsigned long guess = __VERIFIER_nondet_ulong();
  unsigned long apart = (unsigned long)mine - guess;
  mine[0] = 1;
  free(mine);
  return apart == 0;
}
