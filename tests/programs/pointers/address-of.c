// Writing through a pointer changes the variable it points to.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int x = 1, *p = &x;
  *p = 5;
  assert(x == 5);
  assert(p == &x && *&x == 5);
  return 0;
}
