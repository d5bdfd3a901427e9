// A division by zero ends the run silently when only assertions are checked.
// expect: assertions=true races=true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int d = __VERIFIER_nondet_int();
  int x = 10 / d;
  assert(d != 0 || x < 0);
  return 0;
}
