// The entries of an initialiser may be evaluated in any order, each once.
// expect: assertions=true races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
struct pair {
  int a, b;
};
int main(void) {
  struct pair p = {.b = next(), .a = next()};
  assert(p.a + p.b == 3 && n == 2);
  return 0;
}
