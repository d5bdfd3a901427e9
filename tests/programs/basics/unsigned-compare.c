// A comparison of int with unsigned int is unsigned.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int i = -1;
  unsigned int u = 1;
  assert(i > u);
  assert((long long)i < (long long)u);
  short s = -1;
  unsigned short us = 1;
  assert(s < us);
  return 0;
}
