// Unused initialisers and parameters fit.
// expect: overflow=true
#include <limits.h>
static void f(int unused) {}
int main(void) { int x = INT_MAX; int y = x - 1; f(x - 2); return 0; }
