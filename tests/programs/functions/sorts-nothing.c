// To sort fewer than two elements does nothing.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
int numbers[3] = {3, 2, 1};
static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }
int main(void) {
  qsort(numbers, 0, sizeof numbers[0], compare);
  assert(numbers[0] == 3 && numbers[2] == 1);
  return 0;
}
