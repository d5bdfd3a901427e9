// A value that initialises several elements is evaluated once.
// expect: assertions=true races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
int main(void) {
  int a[4] = {[0 ... 2] = next(), next()};
  assert(a[0] == a[1] && a[1] == a[2] && n == 2);
  assert(a[0] + a[3] == 3);
  return 0;
}
