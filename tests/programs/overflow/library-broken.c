// The argument of a library function leaves its range.
// expect: overflow=false
#include <limits.h>
#include <stdio.h>
int main(void) { int x = INT_MAX; printf("%d", x + 1); return 0; } //~ ERROR
