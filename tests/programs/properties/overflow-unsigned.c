// Unsigned arithmetic and narrowing conversions do not overflow.
// expect: assertions=true races=true overflow=true
#include <limits.h>
int main(void) {
  unsigned u = UINT_MAX;
  u++;
  u -= 5;
  u *= 7;
  signed char c = (signed char)300;
  short s = (short)70000;
  unsigned int w = (unsigned)INT_MAX + 1u;
  return c + s + (int)(w & 1u) + (int)(u & 1u) > 100000;
}
