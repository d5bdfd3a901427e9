// The size of an object by its name is known; of a pointer's target a compiler may or may not find it.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
char name[10];
int main(void) {
  char *pointer = malloc(10);
  assert(__builtin_object_size(name, 0) == 10);
  assert(__builtin_object_size(pointer, 0) >= 0);
  unsigned long size = __builtin_dynamic_object_size(pointer, 0);
  assert(size == size);
  return 0;
}
