// A counter stops at the largest int.
// expect: assertions=true races=true overflow=true
#include <limits.h>
int main(void) {
  int x = INT_MAX - 2;
  for (int k = 0; k < 2; k++)
    x++;
  return 0;
}
