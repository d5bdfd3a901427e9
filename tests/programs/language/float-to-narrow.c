// A number that its type cannot hold is converted: nothing is known of the result but its type.
// args: --engine explicit
// expect: assertions=true
#include <assert.h>
int main(void) {
  unsigned char narrow = (unsigned char)300.7;
  unsigned char other = narrow;
  if (other > 200) other = 3;
  assert(other <= 200);
  return 0;
}
