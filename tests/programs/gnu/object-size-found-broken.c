// With optimisation, a compiler finds the size.
// todo: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *pointer = malloc(10);
  assert(__builtin_object_size(pointer, 0) == (unsigned long)-1);
  return 0;
}
