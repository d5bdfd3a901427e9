// A pointer to a struct member changes only that member.
// expect: assertions=true races=true
#include <assert.h>
struct s { int a, b; int v[2]; };
int main(void) {
  struct s x = {1, 2, {3, 4}}, *p = &x;
  int *q = &p->b;
  *q = 20;
  assert(x.a == 1);
  assert((*p).b == 20);
  q = p->v + 1;
  *q = 40;
  assert(x.v[1] == 40);
  return 0;
}
