// The callee changes only its own copy.
// expect: assertions=false races=true
#include <assert.h>
struct point { int x, y; };
static struct point move(struct point p, int d) {
  p.x += d;
  p.y += d;
  return p;
}
int main(void) {
  struct point a = {1, 2};
  struct point b = move(a, 10);
  assert(b.x == 11 && b.y == 12);
  assert(a.x == 11); //~ ERROR
  assert(move(b, 1).y == 13);
  return 0;
}
