// calloc zeroes its memory and realloc keeps the old contents.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *p = calloc(2, sizeof(int));
  if (!p)
    return 1;
  assert(p[0] == 0 && p[1] == 0);
  p[1] = 5;
  int *q = realloc(p, 4 * sizeof(int));
  if (!q)
    return 1;
  q[3] = 9;
  assert(q[1] == 5);
  assert(q[3] == 9);
  free(q);
  return 0;
}
