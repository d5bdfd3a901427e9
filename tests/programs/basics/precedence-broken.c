// == binds tighter than &.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int a = 6;
  assert((a & 2) == 2);
  assert((1 + 2 * 3 - 4 / 2) == 5);
  assert((1 << 1 + 1) == 4);
  int r = a & 2 == 2;
  assert(r == 2); //~ ERROR
  int chain = 3 > 2 > 1;
  assert(chain == 0);
  return 0;
}
