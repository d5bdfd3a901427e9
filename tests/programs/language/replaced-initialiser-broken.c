// Braces replace what an earlier initialiser said of the same member, also where they do not mention it.
// expect: assertions=false
#include <assert.h>
struct inner { int first, second; };
struct outer { int number; struct inner inner; };
int main(void) {
  struct outer local = {.inner.second = 5, .inner = {.first = 2}};
  assert(local.inner.second == 5); //~ ERROR
  return 0;
}
