// An object that grows may stay where it is.
// todo: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *small = malloc(sizeof *small);
  int *large = realloc(small, 64 * sizeof *large);
  assert(large != small);
  free(large);
  return 0;
}
