// Arguments are evaluated in some order: what holds for each of them is proved.
// expect: assertions=true races=true
#include <assert.h>
static int n;
static int next(void) { return ++n; }
static int reads(void) { return n; }
static void check(int a, int b, int c) { assert(a != b && b != c && a != c && a + b + c == 6); }
int main(void) {
  check(next(), next(), next());
  assert(n == 3);
  int sum = next() + next() * 0;
  assert(sum == 4 || sum == 5);
  int before = reads() - reads();
  assert(before == 0);
  int x = n;
  n += next();
  assert(x == 5 && n == 12);
  return 0;
}
