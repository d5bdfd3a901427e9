// Locals that live at the same time have different addresses.
// expect: assertions=true
#include <assert.h>
static int same(int *one, int *other) { return one == other; }
static int both(void) {
  int x = 0, y = 0;
  return same(&x, &y) + !same(&x, &x);
}
int main(void) {
  assert(!both());
  assert(!both());
  return 0;
}
