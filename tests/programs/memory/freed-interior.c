// The pointer goes back to the start before it is freed.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <stdlib.h>
int main(void) {
  int *p = calloc(4, sizeof *p);
  int *q = p + 2;
  *q = 1;
  free(q - 2);
  return 0;
}
