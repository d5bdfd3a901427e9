// Designated initialisers for arrays and structs; the rest is zero.
// expect: assertions=true races=true
#include <assert.h>
struct s { int a, b, c; };
int main(void) {
  int v[6] = {1, [3] = 30, 40};
  struct s x = {.c = 3, .a = 1};
  assert(v[4] == 40);
  assert(v[0] == 1 && v[1] == 0 && v[3] == 30 && v[5] == 0);
  assert(x.a == 1 && x.b == 0 && x.c == 3);
  return 0;
}
