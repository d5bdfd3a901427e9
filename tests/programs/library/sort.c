// What is sorted is in order, and a binary search finds what is there.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
static int order(const void *left, const void *right) {
  int one = *(const int *)left, other = *(const int *)right;
  return (one > other) - (one < other);
}
int main(void) {
  int numbers[3] = {5, 9, 1};
  qsort(numbers, 3, sizeof *numbers, order);
  assert(numbers[0] == 1 && numbers[1] == 5 && numbers[2] == 9);
  return 0;
}
