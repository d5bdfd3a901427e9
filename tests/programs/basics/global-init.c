// Globals without an initialiser are zero.
// expect: assertions=true races=true
#include <assert.h>
static int a;
int b[3];
struct s { int x; struct s *next; } c;
int d = 4, e[2] = {1};
int main(void) {
  assert(a == 0);
  assert(b[0] == 0 && b[2] == 0 && c.x == 0 && c.next == 0);
  assert(d == 4 && e[0] == 1 && e[1] == 0);
  return 0;
}
