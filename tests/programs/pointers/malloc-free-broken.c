// Two live heap objects do not share memory.
// expect: assertions=false races=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p), *q = malloc(sizeof *q);
  if (!p || !q)
    return 1;
  *p = 1;
  *q = 2;
  assert(p != q);
  assert(*p == 2); //~ ERROR
  free(p);
  free(q);
  return 0;
}
