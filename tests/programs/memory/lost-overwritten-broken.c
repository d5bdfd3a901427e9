// The only pointer is overwritten.
// expect: deref=true free=true memtrack=false memcleanup=false
#include <stdlib.h>
int *last;
int main(void) {
  last = malloc(4); //~ ERROR
  last = malloc(4);
  free(last);
  return 0;
}
