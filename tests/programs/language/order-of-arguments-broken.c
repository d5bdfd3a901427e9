// Compilers may evaluate arguments from right to left.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
static void check(int a, int b) {
  assert(a < b); //~ ERROR
}
int main(void) {
  check(next(), next());
  return 0;
}
