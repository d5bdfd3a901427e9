// Case 2 falls into the default case.
// expect: assertions=false races=true
#include <assert.h>
static int f(int x) {
  int r = 0;
  switch (x) {
  case 0:
    r += 1;
    break;
  default:
    r += 100;
    break;
  case 1:
    r += 10;
  case 2:
    r += 20;
  case 3: {
    r += 3;
  }
  }
  return r;
}
int main(void) {
  assert(f(0) == 1);
  assert(f(1) == 10); //~ ERROR
  assert(f(2) == 23 && f(3) == 3 && f(4) == 100);
  return 0;
}
