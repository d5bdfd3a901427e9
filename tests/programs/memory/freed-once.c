// What is allocated is freed once.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  free(p);
  free(0);
  return 0;
}
