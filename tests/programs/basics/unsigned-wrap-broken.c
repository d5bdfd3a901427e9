// 0u - 1 is not negative.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  unsigned int u = 0;
  u = u - 1;
  assert(u <= 0); //~ ERROR
  u = u + 2;
  assert(u == 1);
  unsigned short s = 65535;
  s++;
  assert(s == 0);
  return 0;
}
