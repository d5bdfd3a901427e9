// Where `exit` is called, variables still point to the memory.
// expect: memcleanup=false
#include <stdlib.h>
int *kept;
int main(void) {
  kept = malloc(4); //~ ERROR
  exit(0);
}
