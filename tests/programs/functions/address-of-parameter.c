// The address of a parameter refers to the callee's copy.
// expect: assertions=true races=true
#include <assert.h>
static void set(int *p) { *p = 9; }
static int f(int x) { set(&x); return x; }
int main(void) {
  int x = 1;
  assert(f(x) == 9);
  assert(x == 1);
  return 0;
}
