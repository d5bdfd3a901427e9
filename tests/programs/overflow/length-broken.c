// The length of an array leaves its range.
// expect: overflow=false
#include <limits.h>
int main(void) { int x = INT_MIN; char a[(unsigned char)(x - 1) + 1]; a[0] = 0; return a[0]; } //~ ERROR
