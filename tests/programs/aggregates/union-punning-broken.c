// The unsigned view of -1 is the largest value.
// expect: assertions=false races=true
#include <assert.h>
union u { int i; unsigned int w; unsigned char b[4]; };
int main(void) {
  union u x;
  x.i = -1;
  assert(x.w == 1u); //~ ERROR
  assert(x.b[0] == 255 && x.b[3] == 255);
  x.w = 0x01010101u;
  assert(x.b[1] == 1 && x.i == 16843009);
  return 0;
}
