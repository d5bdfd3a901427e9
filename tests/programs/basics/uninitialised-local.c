// A local variable is assigned before use on every path.
// expect: assertions=true races=true
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
  int x;
  if (__VERIFIER_nondet_bool())
    x = 1;
  else
    x = 2;
  assert(x == 1 || x == 2);
  return 0;
}
