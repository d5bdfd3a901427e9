// expect: assertions=false
// Only the sign of what strcmp gives is said (C11 7.24.4.2p3), also of literals, which compilers compare.
#include <assert.h>
#include <string.h>
int main(void) {
  assert(strcmp("b", "a") == 1); //~ ERROR
  return 0;
}
