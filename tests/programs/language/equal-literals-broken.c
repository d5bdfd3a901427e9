// Whether equal literals are one object is not specified: neither is proved.
// todo: assertions=false
// args: --engine explicit
#include <assert.h>
int main(void) {
  const char *one = "text", *other = "text";
  assert(one == other);
  return 0;
}
