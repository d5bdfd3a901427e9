// What follows from single bits of an input, not from its value as a number.
// expect: assertions=false
#include <assert.h>
extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint();
  unsigned a = x, b = y;
  a ^= b;
  b ^= a;
  a ^= b;
  assert(a == x || b == y); //~ ERROR
  return 0;
}
