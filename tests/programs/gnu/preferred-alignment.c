// With 64 bits, the preferred alignment of a type is that in structures. In an attribute it may stand anywhere.
// expect: assertions=true
#include <assert.h>
struct wide { char c; long long l __attribute__((aligned(__alignof__(long long)))); };
int main(void) {
  assert(__alignof__(double) == 8 && __alignof__(long long) == _Alignof(long long));
  assert(sizeof(struct wide) == 16);
  return 0;
}
