// The lowest byte comes first on a little-endian machine.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  unsigned int w = 0x04030201u;
  unsigned char *b = (unsigned char *)&w;
  assert(b[0] == 4); //~ ERROR
  assert(b[3] == 4);
  b[1] = 0xff;
  assert(w == 0x0403ff01u);
  return 0;
}
