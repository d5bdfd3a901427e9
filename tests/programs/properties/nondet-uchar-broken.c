// An arbitrary unsigned char may be 200.
// expect: assertions=false races=true
#include <assert.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
  unsigned char c = __VERIFIER_nondet_uchar();
  assert(c != 200); //~ ERROR
  return 0;
}
