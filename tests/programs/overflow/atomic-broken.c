// Compound assignment is arithmetic in the type, also on atomic objects.
// expect: overflow=false
#include <limits.h>
#include <stdatomic.h>
atomic_int x = INT_MAX;
int main(void) { x += 1; return 0; } //~ ERROR
