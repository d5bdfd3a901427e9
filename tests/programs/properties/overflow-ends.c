// A signed overflow ends the run silently when only assertions are checked.
// expect: assertions=true races=true overflow=false
#include <assert.h>
#include <limits.h>
int main(void) {
  int x = INT_MAX;
  x++; //~ ERROR
  assert(x == 1);
  return 0;
}
