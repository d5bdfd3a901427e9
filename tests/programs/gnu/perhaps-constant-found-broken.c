// todo: assertions=false
// Holds without optimisation only: before, 0 was taken to be the only answer.
#include <assert.h>
int main(void) {
  int x = 5;
  assert(!__builtin_constant_p(x));
  return 0;
}
