// The conditional operator evaluates one branch only.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int a = 1, b = 0, n = 0;
  int r = a ? (n++, 10) : (n += 5, 20);
  assert(r == 10);
  assert(n == 1);
  r = b ? 1 : a ? 2 : 3;
  assert(r == 2);
  assert((b ? -1 : 1u) > 0);
  return 0;
}
