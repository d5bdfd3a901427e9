// A pragma that gives a function another name is not followed: nothing is said.
// todo: assertions=true
#include <assert.h>
#pragma redefine_extname again five
int five(void) { return 5; }
int again(void);
int main(void) {
  assert(again() == 5);
  return 0;
}
