// What was freed is given out again: the old address is equal to the new one.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *first = malloc(sizeof *first);
  int *old = first;
  free(first);
  int *second = malloc(sizeof *second);
  assert(second != old); //~ ERROR
  free(second);
  return 0;
}
