// The address of a local variable is passed on, but not freed.
// expect: free=true memcleanup=true
#include <stdlib.h>
static void fill(int **at) {
  *at = malloc(4);
}
int main(void) {
  int *p;
  fill(&p);
  free(p);
  return 0;
}
