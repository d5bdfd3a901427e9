// Adding one to the largest int is reported as overflow.
// expect: assertions=false races=true
#include <assert.h>
#include <limits.h>
int main(void) {
  int r;
  _Bool o = __builtin_add_overflow(INT_MAX, 1, &r);
  assert(o == 0); //~ ERROR
  assert(r == INT_MIN);
  assert(!__builtin_mul_overflow(6, 7, &r) && r == 42);
  return 0;
}
