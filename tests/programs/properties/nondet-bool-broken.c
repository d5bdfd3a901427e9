// An arbitrary bool may be one.
// expect: assertions=false races=true
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
  _Bool a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet_bool();
  int x = a + b;
  assert(x >= 0 && x < 2); //~ ERROR
  return 0;
}
