// Whether the end of a literal is another one is not specified either.
// todo: assertions=false
#include <assert.h>
int main(void) {
  assert("pretext" + 3 != "text");
  assert("text" != "text");
  return 0;
}
