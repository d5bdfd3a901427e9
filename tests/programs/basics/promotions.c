// Small integer types are promoted to int before arithmetic.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  unsigned char a = 200, b = 100;
  assert(a + b == 300);
  unsigned char c = a + b;
  assert(c == 44);
  short s = -1;
  assert((s >> 1) == -1);
  return 0;
}
