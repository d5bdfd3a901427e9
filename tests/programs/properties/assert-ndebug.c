// With NDEBUG the assertion is not checked.
// expect: assertions=true races=true
#define NDEBUG
#include <assert.h>
int main(void) {
  int x = 1;
  assert(x == 2);
  return x - 1;
}
