// Heap objects are separate and keep their values.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p), *q = malloc(sizeof *q);
  if (!p || !q)
    return 1;
  *p = 1;
  *q = 2;
  assert(p != q);
  assert(*p == 1);
  free(p);
  free(q);
  return 0;
}
