// The sum of two unsigned chars does not wrap at 256 because it is computed in int.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  unsigned char a = 200, b = 100;
  assert(a + b == 44); //~ ERROR
  unsigned char c = a + b;
  assert(c == 44);
  short s = -1;
  assert((s >> 1) == -1);
  return 0;
}
