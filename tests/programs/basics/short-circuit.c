// The operators && and || stop at the deciding operand.
// expect: assertions=true races=true
#include <assert.h>
static int calls;
static int yes(void) { calls++; return 1; }
int main(void) {
  int zero = 0;
  int r = zero && yes();
  assert(r == 0);
  assert(calls == 0);
  r = 1 || yes();
  assert(r == 1 && calls == 0);
  r = 7 && yes();
  assert(r == 1 && calls == 1);
  return 0;
}
