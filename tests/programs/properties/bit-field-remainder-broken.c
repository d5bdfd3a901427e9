// The remainder is one of signed numbers.
// expect: assertions=false
#include <assert.h>
struct { unsigned b : 3; } s;
int main(void) {
  s.b = 4;
  s.b %= -3;
  assert(s.b == 4); //~ ERROR
  return 0;
}
