// The least value has no absolute one.
// expect: overflow=false
#include <limits.h>
#include <stdlib.h>
int main(void) { long y = LONG_MIN; labs(y); return 0; } //~ ERROR
