// A float in the range of the type, and one just below zero.
// expect: assertions=true overflow=true
#include <assert.h>
int main(void) {
  double number = 2147483647.5;
  assert((int)number == 2147483647);
  float fraction = -0.5f;
  assert((unsigned)fraction == 0);
  return 0;
}
