// Memory of no bytes may be freed once.
// expect: deref=true free=false
#include <stdlib.h>
int main(void) {
  char *p = malloc(0);
  free(p);
  free(p); //~ ERROR
  return 0;
}
