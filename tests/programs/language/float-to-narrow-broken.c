// A number that its type cannot hold is converted: no value of the result is evidence.
// args: --engine explicit
// todo: assertions=false
#include <assert.h>
int main(void) {
  unsigned char narrow = (unsigned char)300.7;
  assert(narrow == 44);
  return 0;
}
