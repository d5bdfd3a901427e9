// A pointer to a variable is not freed, one to allocated memory is.
// expect: free=true memtrack=true memcleanup=true
#include <stdlib.h>
int variable;
static void drop(int *p) {
  if (p != &variable)
    free(p);
}
int main(void) {
  drop(&variable);
  drop(malloc(4));
  return 0;
}
