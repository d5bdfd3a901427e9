// Like replaced-union-member.c, but the member that the first initialiser sets is expected to stay.
// todo: assertions=false
#include <assert.h>
struct pair { int x, y; };
union either { struct pair a, b; };
int main(void) {
  union either u = {.a.x = 1, .b.y = 2};
  assert(u.b.x == 1);
  return 0;
}
