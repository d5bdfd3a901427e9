// Operators with an order of their own keep it; so do calls inside of calls.
// expect: assertions=true races=true
#include <assert.h>
static int g = 1;
static int set(int value) {
  g = value;
  return value;
}
static int twice(int x) { return 2 * x; }
int main(void) {
  assert((set(2), g) == 2);
  assert(set(0) || g == 0);
  assert(set(3) ? g == 3 : 0);
  assert(twice(set(4)) == 8 && g == 4);
  int sum = g + set(7);
  assert(sum == 11 || sum == 14);
  int i = 0, a[3] = {0, 0, 0};
  a[i++] = 5;
  i = i + 1;
  assert(a[0] == 5 && i == 2);
  return 0;
}
