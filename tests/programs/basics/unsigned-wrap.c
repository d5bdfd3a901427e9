// Unsigned arithmetic wraps around.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  unsigned int u = 0;
  u = u - 1;
  assert(u == 4294967295u);
  u = u + 2;
  assert(u == 1);
  unsigned short s = 65535;
  s++;
  assert(s == 0);
  return 0;
}
