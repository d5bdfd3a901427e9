// Without optimisation, nothing is known of the target of a pointer: the answer is the greatest number.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *pointer = malloc(10);
  assert(__builtin_dynamic_object_size(pointer, 0) == 0); //~ ERROR
  return 0;
}
