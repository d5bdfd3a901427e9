// What was resized is given back at its new address.
// expect: bounds=true
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  q[7] = 1;
  free(q);
  return 0;
}
