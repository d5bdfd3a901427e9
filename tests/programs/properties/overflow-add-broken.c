// The sum exceeds the largest int.
// expect: assertions=true races=true overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MAX;
  x = x + 1; //~ ERROR
  return 0;
}
