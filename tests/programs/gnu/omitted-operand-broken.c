// The condition is evaluated once.
// expect: assertions=false races=true
#include <assert.h>
static int calls;
static int next(void) { return ++calls; }
int main(void) {
  int zero = 0;
  assert((zero ?: 7) == 7);
  int r = next() ?: 9;
  assert(r == 1);
  assert(calls == 2); //~ ERROR
  return 0;
}
