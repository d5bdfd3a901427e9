// The old memory is freed again after `realloc`.
// expect: free=false
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  free(p); //~ ERROR
  free(q);
  return 0;
}
