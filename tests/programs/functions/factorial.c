// A recursive factorial of 5.
// expect: assertions=true races=true
#include <assert.h>
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
int main(void) {
  assert(fact(5) == 120);
  assert(fact(0) == 1);
  return 0;
}
