// Assertions with a text and nested conditions.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int x = 4, *p = &x;
  assert(p && "p is set");
  assert((x > 3 || x < 0) && (x == 4) && "x is four");
  return 0;
}
