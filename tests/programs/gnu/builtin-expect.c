// __builtin_expect yields its first argument.
// expect: assertions=true races=true
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
int main(void) {
  int b = __VERIFIER_nondet_bool() ? 4 : 0, r = 0;
  if (unlikely(b))
    r = 1;
  assert(r == (b == 4));
  assert(likely(4) == 1 && __builtin_expect(4, 1) == 4);
  return 0;
}
