// Pointers into two objects of one allocation site, one of which was freed, are no elements apart where the
// second object has got the place of the first one.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
static int *fresh(void) {
  return malloc(4);
}
int main(void) {
  int *first = fresh();
  free(first);
  int *second = fresh();
  *second = 0;
  if (second - first == 0)
    *first = 1;
  assert(*second == 0); //~ ERROR
  free(second);
  return 0;
}
