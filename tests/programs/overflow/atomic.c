// The atomic functions wrap around.
// expect: overflow=true
#include <limits.h>
#include <stdatomic.h>
atomic_int x = INT_MAX;
int main(void) { atomic_fetch_add(&x, 1); return 0; }
