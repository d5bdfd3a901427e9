// Heap memory is accessed inside its size.
// expect: assertions=true races=true bounds=true
#include <stdlib.h>
int main(void) {
  int *p = malloc(2 * sizeof(int));
  p[0] = 1;
  p[1] = 2;
  free(p);
  return 0;
}
