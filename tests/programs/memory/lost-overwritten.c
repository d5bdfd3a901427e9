// The pointer is overwritten after the memory was freed.
// expect: memtrack=true memcleanup=true
#include <stdlib.h>
int *last;
int main(void) {
  last = malloc(4);
  free(last);
  last = malloc(4);
  free(last);
  return 0;
}
