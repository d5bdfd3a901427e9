// a -= b - 1 subtracts the whole right side.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int a = 10, b = 3;
  a -= b - 1;
  assert(a == 6); //~ ERROR
  a *= 2; a /= 3; a %= 4; a <<= 3; a |= 5; a &= ~1; a ^= 2;
  assert(a == 14);
  unsigned char c = 250;
  c += 10;
  assert(c == 4);
  return 0;
}
