// The arbitrary summand is not bounded.
// expect: assertions=true races=true overflow=false
#include <limits.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  int y = x + 10; //~ ERROR
  return y == 0;
}
