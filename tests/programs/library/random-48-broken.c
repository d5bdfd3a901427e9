// Without a seed, the first number is not defined: any.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
int main(void) {
  long first = lrand48(), second = mrand48();
  assert(first >= 0 && second >= -2147483648L);
  assert(first % 10 != 3); //~ ERROR
  return 0;
}
