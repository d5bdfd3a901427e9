// Memory of no bytes may be freed.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <stdlib.h>
int main(void) {
  char *p = malloc(0);
  free(p);
  return 0;
}
