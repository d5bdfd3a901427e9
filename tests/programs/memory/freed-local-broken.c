// A local variable of the caller is freed.
// expect: deref=true free=false
#include <stdlib.h>
static void drop(int **at) {
  free(at); //~ ERROR
}
int main(void) {
  int *p = 0;
  drop(&p);
  return 0;
}
