// Several parts of one member of a union are set: that is clear.
// expect: assertions=true
#include <assert.h>
struct pair { int x, y; };
union either { struct pair a, b; struct { int p, q; }; };
int main(void) {
  union either u = {.a.x = 1, .a.y = 2}, v = {.b = {.x = 3, .y = 4}}, w = {.p = 5, .q = 6};
  assert(u.a.x == 1 && u.a.y == 2);
  assert(v.b.x == 3 && v.b.y == 4);
  assert(w.p == 5 && w.q == 6);
  return 0;
}
