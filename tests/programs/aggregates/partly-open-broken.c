// Like partly-open.c, but more bytes are compared than have a value.
// expect: assertions=false
#include <assert.h>
union number {
  unsigned char bytes[8];
  unsigned long whole;
};
int main(void) {
  union number one;
  one.bytes[0] = 5;
  assert((one.whole & 65535) == 5); //~ ERROR
  return 0;
}
