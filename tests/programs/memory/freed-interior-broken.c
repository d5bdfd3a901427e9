// An object is freed by the address of its third element.
// expect: free=false
#include <stdlib.h>
int main(void) {
  int *p = calloc(4, sizeof *p);
  int *q = p + 2;
  *q = 1;
  free(q); //~ ERROR
  return 0;
}
