// Any of five calls may be the first.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
static int third(int a, int b, int c, int d, int e) { return a + b + 100 * c + d + e; }
int main(void) {
  assert(third(next(), next(), next(), next(), next()) > 200); //~ ERROR
  return 0;
}
