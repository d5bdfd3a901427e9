// Neither of two addresses is less than the other one where the second object has got the place of the first
// one, which was freed.
// todo: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *first = malloc(4);
  unsigned long old = (unsigned long)first;
  free(first);
  int *second = malloc(4);
  *second = 0;
  unsigned long new = (unsigned long)second;
  if (!(old < new) && !(new < old))
    *(int *)old = 1;
  assert(*second == 0);
  return 0;
}
