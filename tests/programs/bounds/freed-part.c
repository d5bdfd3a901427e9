// The first member of an object has its address.
// expect: bounds=true
#include <stdlib.h>
struct pair {
  int one, two;
};
int main(void) {
  struct pair *p = calloc(1, sizeof *p);
  int *q = &p->one;
  free(q);
  return 0;
}
