// The assertion with a text fails.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int x = 4, *p = &x;
  assert(p && "p is set");
  assert((x > 3 || x < 0) && (x != 4) && "x is four"); //~ ERROR
  return 0;
}
