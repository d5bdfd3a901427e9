// The entries of an initialiser may be evaluated in any order.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
int main(void) {
  int a[2] = {next(), next()};
  assert(a[0] == 1); //~ ERROR
  return 0;
}
