// The length of an array fits.
// expect: overflow=true
#include <limits.h>
int main(void) { int x = 3; char a[x + 1]; a[0] = 0; return a[0]; }
