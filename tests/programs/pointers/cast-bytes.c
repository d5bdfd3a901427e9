// A char pointer reads the bytes of an int.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  unsigned int w = 0x04030201u;
  unsigned char *b = (unsigned char *)&w;
  assert(b[0] == 1);
  assert(b[3] == 4);
  b[1] = 0xff;
  assert(w == 0x0403ff01u);
  return 0;
}
