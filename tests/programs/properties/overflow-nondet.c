// The arbitrary summand is bounded before the addition.
// expect: assertions=true races=true overflow=true
#include <limits.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x > INT_MAX - 10)
    return 0;
  int y = x + 10;
  return y == 0;
}
