// Builtins for counting bits, constants and unreachable code.
// expect: assertions=true races=true
#include <assert.h>
static int f(int x) {
  if (x == 0)
    return 1;
  if (x != 0)
    return 2;
  __builtin_unreachable();
}
int main(void) {
  assert(__builtin_popcount(0xf0) == 4);
  assert(__builtin_ctz(8) == 3 && __builtin_clz(1) == 31);
  assert(f(0) == 1 && f(5) == 2);
  return 0;
}
