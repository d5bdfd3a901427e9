// A value that nobody uses leaves its range.
// expect: overflow=false
#include <limits.h>
int main(void) {
  int x = INT_MIN;
  (void)-x; //~ ERROR
  return 0;
}
