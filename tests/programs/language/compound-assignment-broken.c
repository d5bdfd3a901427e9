// The element that a compound assignment changes may be chosen before or after the call.
// expect: assertions=false races=true
#include <assert.h>
static int a[3] = {0, 1, 2}, at;
static int move(void) {
  at = 2;
  return 40;
}
int main(void) {
  a[at] += move();
  assert(a[0] == 40); //~ ERROR
  return 0;
}
