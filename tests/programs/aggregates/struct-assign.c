// Struct assignment copies every member.
// expect: assertions=true races=true
#include <assert.h>
struct point { int x, y; };
int main(void) {
  struct point a = {1, 2}, b;
  b = a;
  a.x = 9;
  assert(b.x == 1);
  assert(b.y == 2 && a.x == 9);
  return 0;
}
