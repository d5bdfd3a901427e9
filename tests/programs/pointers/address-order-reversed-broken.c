// Which one of two variables comes first is not known: not the other one, either.
// expect: assertions=false
#include <assert.h>
int x, y;
int main(void) {
  int *p = &x, *q = &y;
  assert(q < p); //~ ERROR
  return 0;
}
