// What was given back is forgotten, so that null is given back next.
// expect: bounds=true
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  free(p);
  p = 0;
  free(p);
  return 0;
}
