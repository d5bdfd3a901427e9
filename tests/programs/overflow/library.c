// The argument fits.
// expect: overflow=true
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) { int x = INT_MAX / 2; srand(x * 2); printf("%d", x + 1); return 0; }
