// Only the last member of a union that an initialiser names counts (C11 6.7.9p19): the first one leaves nothing. What
// the last one leaves out is zero, but no tool should have to tell where the type hides which member is meant.
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
