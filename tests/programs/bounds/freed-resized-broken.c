// What was resized is given back at its old address.
// expect: bounds=false
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  q[7] = 1;
  free(p); //~ ERROR
  free(q);
  return 0;
}
