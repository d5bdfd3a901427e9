// Members of nested structs.
// expect: assertions=true races=true
#include <assert.h>
struct inner { int a; char b; };
struct outer { struct inner first, second; int n; };
int main(void) {
  struct outer o = {{1, 2}, {3, 4}, 5};
  struct inner i = o.second;
  o.first = i;
  o.second.a = 7;
  assert(o.first.a == 3);
  assert(o.first.b == 4 && o.second.a == 7 && o.n == 5);
  return 0;
}
