// -1 is not less than 1u.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i = -1;
  unsigned int u = 1;
  assert(i < u); //~ ERROR
  assert((long long)i < (long long)u);
  short s = -1;
  unsigned short us = 1;
  assert(s < us);
  return 0;
}
