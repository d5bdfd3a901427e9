// A global variable points to the memory when the program ends: it is left, but not lost.
// expect: memtrack=true memcleanup=false
#include <stdlib.h>
int *kept;
int main(void) {
  int *p = malloc(4); //~ ERROR
  kept = p;
  return 0;
}
