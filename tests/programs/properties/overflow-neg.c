// The negated number has a positive counterpart.
// expect: assertions=true races=true overflow=true
#include <limits.h>
int main(void) {
  int x = INT_MIN+ 1;
  int y = -x;
  return y == 0;
}
