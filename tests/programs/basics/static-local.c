// A static local variable keeps its value between calls.
// expect: assertions=true races=true
#include <assert.h>
static int next(void) {
  static int n = 10;
  return n++;
}
static int fresh(void) {
  int n = 10;
  return n++;
}
int main(void) {
  next();
  fresh();
  assert(next() == 11);
  assert(fresh() == 10);
  return 0;
}
