// An unused parameter leaves its range.
// expect: overflow=false
#include <limits.h>
static void f(int unused) {}
int main(void) { int x = INT_MAX; f(x + 2); return 0; } //~ ERROR
