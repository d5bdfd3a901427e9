// The factorial of 5 is 120.
// expect: assertions=false races=true
#include <assert.h>
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
int main(void) {
  assert(fact(5) == 100); //~ ERROR
  assert(fact(0) == 1);
  return 0;
}
