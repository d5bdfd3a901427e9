// Conversion to _Bool gives 0 or 1.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int x = 256;
  _Bool b = x;
  unsigned char c = x;
  assert(c == 0);
  assert(b == 1);
  b = !b;
  assert(b == 0);
  return 0;
}
