// What a function of the system gives follows from its contract: a result that is not modelled is no input,
// so the verdict is at worst unknown.
// todo: assertions=true
#include <assert.h>
#include <math.h>
#include <wctype.h>
int main(void) {
  assert(!iswdigit(L'a'));
  assert(lrintf(2.0f) == 2);
  assert(nan("") != 1);
  return 0;
}
