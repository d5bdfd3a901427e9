// The difference of two numbers is no order of them: it may overflow.
// expect: overflow=false
#include <assert.h>
#include <stdlib.h>
static int difference(const void *left, const void *right) {
  return *(const int *)left - *(const int *)right; //~ ERROR
}
int main(void) {
  int few[3] = {1, 5, 9}, wanted = 4;
  int far[2] = {2000000000, -2000000000};
  assert(bsearch(&wanted, few, 3, sizeof *few, difference) || wanted == 4);
  qsort(far, 2, sizeof *far, difference);
  return 0;
}
