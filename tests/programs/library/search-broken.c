// A binary search for what is not there.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
static int order(const void *left, const void *right) {
  int one = *(const int *)left, other = *(const int *)right;
  return (one > other) - (one < other);
}
int main(void) {
  int numbers[3] = {1, 5, 9}, wanted = 4;
  assert(bsearch(&wanted, numbers, 3, sizeof *numbers, order)); //~ ERROR
  return 0;
}
