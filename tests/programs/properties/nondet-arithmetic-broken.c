// The property fails for one integer.
// expect: assertions=false races=true
#include <assert.h>
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned int x = __VERIFIER_nondet_uint();
  unsigned int even = x & ~1u;
  assert(even % 2 == 0 && even != 4294967294u); //~ ERROR
  return 0;
}
