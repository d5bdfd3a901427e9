// A wrong run-time assertion next to right static ones.
// expect: assertions=false races=true
#include <assert.h>
_Static_assert(sizeof(int) == 4, "int has four bytes");
struct s { char c; _Static_assert(1 + 1 == 2, "sum"); int i; };
int main(void) {
  _Static_assert(sizeof(struct s) == 8, "padding");
  static_assert((unsigned char)256 == 0, "wrap");
  struct s x = {1, 2};
  assert(x.i == 1); //~ ERROR
  return 0;
}
