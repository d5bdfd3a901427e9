// The last element may be evaluated first.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
int main(void) {
  int a[4] = {[0 ... 2] = next(), next()};
  assert(a[3] == 2); //~ ERROR
  return 0;
}
