// The difference is below the smallest int.
// expect: assertions=true races=true overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MIN, y = 1;
  int z = x - y; //~ ERROR
  return z == 0;
}
