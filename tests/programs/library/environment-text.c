// A variable of the environment has the same text until the program changes it.
// todo: assertions=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *one = getenv("N"), *other = getenv("N");
  if (one)
    assert(one[0] == other[0]);
  return 0;
}
