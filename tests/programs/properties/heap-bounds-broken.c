// Heap memory is accessed one element past its size.
// expect: assertions=true races=true bounds=false
#include <stdlib.h>
int main(void) {
  int *p = malloc(2 * sizeof(int));
  p[0] = 1;
  p[2] = 2; //~ ERROR
  free(p);
  return 0;
}
