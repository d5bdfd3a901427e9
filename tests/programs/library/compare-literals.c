// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <string.h>
static const unsigned long length = sizeof "abc" - 1;
int main(void) {
  assert(strcmp("b", "a") > 0 && strcmp("a", "b") < 0 && strcmp("a", "a") == 0);
  assert(strlen("abc") == length);
  return 0;
}
