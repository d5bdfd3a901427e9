// The condition of an empty statement fits.
// expect: overflow=true
#include <limits.h>
int main(void) {
  long x = INT_MAX;
  if (x + 1)
    ;
  return 0;
}
