// The left operand of a comma fits.
// expect: overflow=true
#include <limits.h>
int main(void) { int x = INT_MAX; return (x - 1, 0); }
