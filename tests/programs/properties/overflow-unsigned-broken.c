// The same sum in signed arithmetic overflows.
// expect: assertions=true races=true overflow=false
#include <limits.h>
int main(void) {
  unsigned u = UINT_MAX;
  u++;
  u -= 5;
  u *= 7;
  signed char c = (signed char)300;
  short s = (short)70000;
  int w = INT_MAX;
  w += 1; //~ ERROR
  return c + s + (int)(w & 1u) + (int)(u & 1u) > 100000;
}
