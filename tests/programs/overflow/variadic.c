// The sum that is passed on fits.
// expect: overflow=true
#include <limits.h>
static void note(const char *f, ...) {}
int main(void) { int x = INT_MAX; note("%d", x - 1); return 0; }
