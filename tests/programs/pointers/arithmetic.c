// Pointer arithmetic counts in elements.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int v[5] = {0, 1, 2, 3, 4};
  int *p = v + 1, *q = &v[4];
  assert(q - p == 3);
  p += 2;
  assert(*p == 3 && p[-1] == 2 && *(q - 4) == 0);
  char *c = (char *)v;
  assert((char *)(v + 1) - c == 4);
  return 0;
}
