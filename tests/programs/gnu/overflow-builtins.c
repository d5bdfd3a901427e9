// The overflow builtins report a wrapped result.
// expect: assertions=true races=true
#include <assert.h>
#include <limits.h>
int main(void) {
  int r;
  _Bool o = __builtin_add_overflow(INT_MAX, 1, &r);
  assert(o == 1);
  assert(r == INT_MIN);
  assert(!__builtin_mul_overflow(6, 7, &r) && r == 42);
  return 0;
}
