// Literals with different bytes are different objects, and a copy of an address is the same one.
// expect: assertions=true
#include <assert.h>
int main(void) {
  const char *one = "one", *two = "two", *copy = one;
  assert(one != two);
  assert(one == copy);
  return 0;
}
