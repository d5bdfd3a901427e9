// The first operand may be read after the call has changed it.
// expect: assertions=false races=true
#include <assert.h>
static int g = 1;
static int set(void) {
  g = 10;
  return 5;
}
int main(void) {
  int sum = g + set();
  assert(sum == 6); //~ ERROR
  return 0;
}
