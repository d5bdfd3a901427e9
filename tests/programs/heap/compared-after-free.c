// Two objects that live at the same time have different addresses, whatever was freed before.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *first = malloc(sizeof *first);
  int *second = malloc(sizeof *second);
  assert(second != first);
  free(first);
  free(second);
  return 0;
}
