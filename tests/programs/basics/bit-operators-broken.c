// The complement of 0 is -1, not 1.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  unsigned int u = 0xf0u;
  assert((u | 0x0fu) == 0xffu && (u & 0x30u) == 0x30u && (u ^ 0xffu) == 0x0fu);
  assert(~0 == 1); //~ ERROR
  assert(!0 == 1 && !5 == 0 && -(-3) == 3 && +4 == 4);
  assert((5 & 6) == 4 && (5 | 6) == 7 && (5 ^ 6) == 3);
  return 0;
}
