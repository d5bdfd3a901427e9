// A signed overflow ends every run before the assertion, so that nothing is said about it.
// expect: races=true overflow=false
// todo: assertions=true
#include <assert.h>
#include <limits.h>
int main(void) {
  int x = INT_MAX;
  x++; //~ ERROR
  assert(x == 1);
  return 0;
}
