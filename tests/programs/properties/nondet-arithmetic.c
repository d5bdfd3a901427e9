// A property of all integers.
// expect: assertions=true races=true
#include <assert.h>
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned int x = __VERIFIER_nondet_uint();
  unsigned int even = x & ~1u;
  assert(even % 2 == 0);
  return 0;
}
