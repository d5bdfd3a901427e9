// A static local variable is initialised only once.
// expect: assertions=false races=true
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
  assert(next() == 10); //~ ERROR
  assert(fresh() == 10);
  return 0;
}
