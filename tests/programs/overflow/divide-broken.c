// The remainder of the least value by -1.
// expect: overflow=false
#include <limits.h>
int main(void) { int x = INT_MIN, y = -1; (void)(x % y); return 0; } //~ ERROR
