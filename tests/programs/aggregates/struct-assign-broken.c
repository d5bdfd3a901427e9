// A copied struct does not follow later changes of the original.
// expect: assertions=false races=true
#include <assert.h>
struct point { int x, y; };
int main(void) {
  struct point a = {1, 2}, b;
  b = a;
  a.x = 9;
  assert(b.x == 9); //~ ERROR
  assert(b.y == 2 && a.x == 9);
  return 0;
}
