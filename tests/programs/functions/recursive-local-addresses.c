// Each recursive call has its own copy of a local whose address is taken.
// expect: assertions=true races=true
#include <assert.h>
static int depth(int n, int *up) {
  int mine = n;
  if (n > 0)
    depth(n - 1, &mine);
  if (up)
    *up += 100;
  return mine;
}
int main(void) {
  assert(depth(2, 0) == 102);
  return 0;
}
