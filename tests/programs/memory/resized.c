// `realloc` gives the old memory back; of size 0, it gives back all.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  p = realloc(p, 8);
  p[7] = 1;
  p = realloc(p, 0);
  free(p);
  return 0;
}
