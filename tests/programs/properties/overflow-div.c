// The quotient stays in the range of int.
// expect: assertions=true races=true overflow=true
#include <limits.h>
int main(void) {
  int x = INT_MIN + 1, y = -1;
  int z = x / y;
  return z == 0;
}
