// The smallest int has no positive counterpart.
// expect: assertions=true races=true overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MIN;
  int y = -x; //~ ERROR
  return y == 0;
}
