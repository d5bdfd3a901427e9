// The second member of an object is given back.
// expect: bounds=false
#include <stdlib.h>
struct pair {
  int one, two;
};
int main(void) {
  struct pair *p = calloc(1, sizeof *p);
  int *q = &p->two;
  free(q); //~ ERROR
  return 0;
}
