// The least value is divided by other numbers than -1.
// expect: overflow=true
#include <limits.h>
int main(void) { int x = INT_MIN; return x / 2 + x % 3; }
