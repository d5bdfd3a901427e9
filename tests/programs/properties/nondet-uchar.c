// An arbitrary unsigned char is at most 255.
// expect: assertions=true races=true
#include <assert.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
  unsigned char c = __VERIFIER_nondet_uchar();
  assert(c <= 255);
  return 0;
}
