// todo: assertions=false
// How many zeros there are before or after the lowest one that is set is not defined where none is set.
#include <assert.h>
int main(void) {
  unsigned x = 0;
  assert(__builtin_ctz(x) == 32);
  return 0;
}
