// expect: overflow=false
// The argument of `exit` is computed, although nobody uses the number.
#include <limits.h>
#include <stdlib.h>
int main(void) {
  int x = INT_MAX;
  exit(x + 1); //~ ERROR
}
