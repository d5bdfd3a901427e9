// The left-hand side of a compound assignment is read after a call on the right-hand side.
// expect: assertions=true races=true
#include <assert.h>
static int g = 1, a[3] = {0, 1, 2}, at;
static int set(void) {
  g = 10;
  return 5;
}
static int move(void) {
  at = 2;
  return 40;
}
int main(void) {
  g += set();
  assert(g == 15);
  a[at] += move();
  assert(a[0] == 40 && a[2] == 2 || a[0] == 0 && a[2] == 42);
  return 0;
}
