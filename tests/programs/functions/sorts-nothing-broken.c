// To sort one element does nothing: what is wrong after it is an error.
// expect: assertions=false races=true
#include <assert.h>
#include <stdlib.h>
int numbers[3] = {3, 2, 1};
static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }
int main(void) {
  qsort(numbers, 1, sizeof numbers[0], compare);
  assert(numbers[0] == 1); //~ ERROR
  return 0;
}
