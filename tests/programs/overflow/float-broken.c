// An integer leaves its range before it becomes a float.
// expect: overflow=false
#include <limits.h>
int main(void) { int x = INT_MAX; double d = x + 1; return d > 0; } //~ ERROR
