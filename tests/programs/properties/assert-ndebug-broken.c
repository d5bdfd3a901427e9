// Without NDEBUG the assertion is checked.
// expect: assertions=false races=true
#undef NDEBUG
#include <assert.h>
int main(void) {
  int x = 1;
  assert(x == 2); //~ ERROR
  return x - 1;
}
