// Which one of two variables comes first is not known.
// expect: assertions=false
#include <assert.h>
int x, y;
int main(void) {
  int *p = &x, *q = &y;
  assert(p < q); //~ ERROR
  return 0;
}
