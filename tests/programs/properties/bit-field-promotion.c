// A bit-field whose values `int` holds is promoted to `int`.
// expect: overflow=true assertions=true
#include <assert.h>
struct { unsigned a : 31, b : 3; } s;
int main(void) {
  s.a = 0x7ffffffe;
  s.a++;
  s.b = 4;
  s.b %= -3;
  assert(s.b == 1);
  return 0;
}
