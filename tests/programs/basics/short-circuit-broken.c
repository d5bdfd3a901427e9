// The right operand of && is not evaluated when the left one is false.
// expect: assertions=false races=true
#include <assert.h>
static int calls;
static int yes(void) { calls++; return 1; }
int main(void) {
  int zero = 0;
  int r = zero && yes();
  assert(r == 0);
  assert(calls == 1); //~ ERROR
  r = 1 || yes();
  assert(r == 1 && calls == 0);
  r = 7 && yes();
  assert(r == 1 && calls == 1);
  return 0;
}
