// An uninitialised local variable may have any value.
// expect: assertions=false races=true
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
  int x;
  if (__VERIFIER_nondet_bool())
    x = 1;
  assert(x == 1 || x == 2); //~ ERROR
  return 0;
}
