// The left operand of a comma leaves its range.
// expect: overflow=false
#include <limits.h>
int main(void) { int x = INT_MAX; return (x + 1, 0); } //~ ERROR
