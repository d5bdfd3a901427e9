// A counter runs over the largest int.
// expect: assertions=true races=true overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MAX - 2;
  for (int k = 0; k < 3; k++)
    x++; //~ ERROR
  return 0;
}
