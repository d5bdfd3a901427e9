// Two variables of the environment may differ.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *one = getenv("N"), *other = getenv("M");
  if (one && other)
    assert(one[0] == other[0]); //~ ERROR
  return 0;
}
