// expect: overflow=false
// What is passed to a weak function that is not there is computed before the call.
#include <limits.h>
extern int absent(int) __attribute__((weak));
int main(void) {
  int x = INT_MAX;
  absent(x + 1); //~ ERROR
  return 0;
}
