// An integer becomes a float.
// expect: overflow=true
#include <limits.h>
int main(void) { int x = INT_MAX; double d = x - 1; return d > 0; }
