// Arithmetic on narrow types is done in int, and converted back.
// expect: overflow=true
#include <limits.h>
int main(void) {
  signed char c = SCHAR_MAX;
  short s = SHRT_MAX;
  c++;
  c += 100;
  s *= 2;
  unsigned u = UINT_MAX;
  u++;
  return 0;
}
