// A right shift of a negative int is arithmetic.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int n = -8;
  unsigned int u = 0x80000000u;
  assert(1 << 5 == 32);
  assert(u >> 31 == 1u);
  assert((u << 1) == 0u);
  assert(n >> 1 == 0x7ffffffc); //~ ERROR
  return 0;
}
