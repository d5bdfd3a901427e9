// Only the last member of a union that an initialiser names counts, and what it leaves out is zero (C11 6.7.9p19, p21).
// Several members that are named in parts are not supported yet.
// todo: assertions=true
#include <assert.h>
struct pair { int x, y; };
union either { struct pair a, b; };
int main(void) {
  union either u = {.a.x = 1, .b.y = 2};
  assert(u.b.x == 0);
  assert(u.b.y == 2);
  union either v = {.a = {.x = 3, .y = 4}};
  assert(v.a.x == 3 && v.a.y == 4);
  return 0;
}
