// The difference of an address and an input is 0 where the input is that address: it is freed through the
// input.
// todo: deref=false
#include <stdlib.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

int main(void) {
  char *mine = malloc(4);
  unsigned long guess = __VERIFIER_nondet_ulong();
  unsigned long apart = (unsigned long)mine - guess;
  if (apart == 0)
    free((void *)guess);
  mine[0] = 1;
  return 0;
}
