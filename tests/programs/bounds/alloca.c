// Memory from alloca is used before the function returns.
// expect: bounds=true
#include <alloca.h>
static int f(int n) { char *a = alloca(n); a[0] = 1; return a[0]; }
int main(void) { return f(3); }
