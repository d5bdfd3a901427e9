// A division by zero ends the run silently when only assertions are checked.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int d = 0;
  int x = 10 / d;
  assert(x == 0);
  return 0;
}
