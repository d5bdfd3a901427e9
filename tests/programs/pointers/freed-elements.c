// Pointers into one object are so many elements apart, also where an object was freed before.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  free(malloc(8));
  int *first = malloc(8);
  int *second = first + 1;
  assert(second - first == 1);
  free(first);
  return 0;
}
