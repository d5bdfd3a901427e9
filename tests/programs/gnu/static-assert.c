// _Static_assert is checked by the compiler and has no effect at run time.
// expect: assertions=true races=true
#include <assert.h>
_Static_assert(sizeof(int) == 4, "int has four bytes");
struct s { char c; _Static_assert(1 + 1 == 2, "sum"); int i; };
int main(void) {
  _Static_assert(sizeof(struct s) == 8, "padding");
  static_assert((unsigned char)256 == 0, "wrap");
  struct s x = {1, 2};
  assert(x.i == 2);
  return 0;
}
