// The pointer to member b does not change member a.
// expect: assertions=false races=true
#include <assert.h>
struct s { int a, b; int v[2]; };
int main(void) {
  struct s x = {1, 2, {3, 4}}, *p = &x;
  int *q = &p->b;
  *q = 20;
  assert(x.a == 20); //~ ERROR
  assert((*p).b == 20);
  q = p->v + 1;
  *q = 40;
  assert(x.v[1] == 40);
  return 0;
}
