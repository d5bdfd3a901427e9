// What a binary search finds is what was looked for.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
static int order(const void *left, const void *right) {
  int one = *(const int *)left, other = *(const int *)right;
  return (one > other) - (one < other);
}
int main(void) {
  int numbers[3] = {1, 5, 9}, wanted = 5;
  int *found = bsearch(&wanted, numbers, 3, sizeof *numbers, order);
  assert(!found || *found == 5);
  return 0;
}
