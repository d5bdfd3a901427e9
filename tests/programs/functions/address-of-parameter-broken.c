// Changing a parameter through its address leaves the argument alone.
// expect: assertions=false races=true
#include <assert.h>
static void set(int *p) { *p = 9; }
static int f(int x) { set(&x); return x; }
int main(void) {
  int x = 1;
  assert(f(x) == 9);
  assert(x == 9); //~ ERROR
  return 0;
}
