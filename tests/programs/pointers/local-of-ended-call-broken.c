// The locals of two calls have the same address, one after the other.
// expect: assertions=false
#include <assert.h>
int *kept;
static int again(void) {
  int x = 0;
  int *before = kept;
  kept = &x;
  return before == &x;
}
int main(void) {
  again();
  assert(!again()); //~ ERROR
  return 0;
}
