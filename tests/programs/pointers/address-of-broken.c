// The variable is changed through the pointer.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int x = 1, *p = &x;
  *p = 5;
  assert(x == 1); //~ ERROR
  assert(p == &x && *&x == 5);
  return 0;
}
