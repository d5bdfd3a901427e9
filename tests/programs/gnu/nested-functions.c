// Nested functions use the variables of the function around them: scalars, arrays, structures, parameters.
// expect: assertions=true
#include <assert.h>
struct pair { int first, second; };
static int sum(int limit) {
  int total = 0;
  int square(int x) { return x * x; }
  void add(int x) {
    total += square(x);
    if (x < limit) add(x + 1);
  }
  add(1);
  return total;
}
static int count(int depth) {
  int mine = depth;
  int all(void) { return mine + (depth > 0 ? count(depth - 1) : 0); }
  return all();
}
int main(void) {
  int x = 1, list[3] = {1, 2, 3};
  struct pair pair = {4, 5};
  void change(int by) {
    x += by;
    list[1] = x;
    pair.second = by;
    void deeper(void) { x = x * 10 + by; }
    deeper();
  }
  struct pair copy(void) { return pair; }
  change(2);
  assert(x == 32 && list[1] == 3 && pair.first == 4 && pair.second == 2);
  assert(copy().second == 2 && sum(3) == 14 && count(3) == 6);
  return 0;
}
