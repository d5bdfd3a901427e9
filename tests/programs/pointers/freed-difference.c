// The first object is still there, and what is done where the difference is 0 does not matter.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  int *first = malloc(4);
  unsigned long old = (unsigned long)first;
  int *second = malloc(4);
  *second = 0;
  unsigned long apart = old - (unsigned long)second;
  if (!apart)
    *(int *)old = 1;
  assert(*second == 0);
  return 0;
}
