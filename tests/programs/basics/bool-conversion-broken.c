// Conversion to _Bool does not keep the low bits.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int x = 256;
  _Bool b = x;
  unsigned char c = x;
  assert(c == 0);
  assert(b == 0); //~ ERROR
  b = !b;
  assert(b == 0);
  return 0;
}
