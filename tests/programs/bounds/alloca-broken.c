// Memory from alloca is used after the function has returned.
// expect: bounds=false
#include <alloca.h>
static char *f(int n) { char *a = alloca(n); a[0] = 1; return a; }
int main(void) { return *f(3); } //~ ERROR
