// Of three variables, any order is possible.
// expect: assertions=false
#include <assert.h>
int x, y, z;
static int before(int *p, int *q) { return p < q; }
int main(void) {
  assert(!(before(&y, &z) && before(&z, &x))); //~ ERROR
  return 0;
}
