// The absolute value of other numbers than the least one.
// expect: overflow=true
#include <limits.h>
#include <stdlib.h>
int main(void) { int x = INT_MIN + 1; long y = LONG_MIN + 1; abs(x); return labs(y) == 0; }
