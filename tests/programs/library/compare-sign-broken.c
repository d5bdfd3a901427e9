// Nothing is said about the size of the difference.
// expect: assertions=false
#include <assert.h>
#include <string.h>
int main(void) {
  assert(memcmp("b", "a", 1) == 1); //~ ERROR
  return 0;
}
