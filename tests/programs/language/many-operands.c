// More orders than can be listed: they are chosen step by step.
// expect: assertions=true races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
static int sum(int a, int b, int c, int d, int e) { return a + b + c + d + e; }
int main(void) {
  assert(sum(next(), next(), next(), next(), next()) == 15);
  return 0;
}
