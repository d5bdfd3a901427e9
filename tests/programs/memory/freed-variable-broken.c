// A function frees what it is passed: a variable.
// expect: deref=true free=false
#include <stdlib.h>
int variable;
static void drop(int *p) {
  free(p); //~ ERROR
}
int main(void) {
  drop(&variable);
  return 0;
}
