// What was freed is freed again.
// expect: free=false
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  free(p);
  free(p); //~ ERROR
  return 0;
}
