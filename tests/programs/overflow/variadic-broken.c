// A sum that nobody reads leaves its range.
// expect: overflow=false
#include <limits.h>
static void note(const char *f, ...) {}
int main(void) { int x = INT_MAX; note("%d", x + 1); return 0; } //~ ERROR
