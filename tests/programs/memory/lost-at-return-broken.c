// Only a variable of main points to the memory when main returns.
// expect: memtrack=false memcleanup=false
#include <stdlib.h>
int main(void) {
  int *p = malloc(4); //~ ERROR
  *p = 1;
  return 0;
}
