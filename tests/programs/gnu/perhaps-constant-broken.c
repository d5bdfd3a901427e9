// expect: assertions=false
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  assert(__builtin_constant_p(x)); //~ ERROR
  return 0;
}
