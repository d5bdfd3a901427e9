// Bytes that have a value keep it when they are read together with bytes that have none.
// todo: assertions=true
#include <assert.h>
union number {
  unsigned char bytes[8];
  unsigned long whole;
};
int main(void) {
  union number one;
  one.bytes[0] = 5;
  assert((one.whole & 255) == 5);
  one.bytes[1] = 6;
  assert((one.whole & 65535) == 1541);
  return 0;
}
