// The inner call does not overwrite the local of the outer call.
// expect: assertions=false races=true
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
  assert(depth(2, 0) == 2); //~ ERROR
  return 0;
}
