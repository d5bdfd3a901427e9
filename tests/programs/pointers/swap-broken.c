// A swap by value has no effect on the caller.
// expect: assertions=false races=true
#include <assert.h>
static void swap(int a, int b) {
  int t = a;
  a = b;
  b = t;
}
int main(void) {
  int x = 1, y = 2;
  swap(x, y);
  assert(x == 2 && y == 1); //~ ERROR
  return 0;
}
