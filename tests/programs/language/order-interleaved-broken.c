// A call may come between two calls that are operands of another operator.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
int main(void) {
  int digits = 100 * next() + (10 * next() + next());
  assert(digits != 213); //~ ERROR
  return 0;
}
