// The condition of an empty statement leaves its range.
// expect: overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MAX;
  while (x++ < 0) //~ ERROR
    ;
  return 0;
}
