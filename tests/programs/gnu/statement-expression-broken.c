// The argument of the statement expression macro is evaluated once.
// expect: assertions=false races=true
#include <assert.h>
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
int main(void) {
  int i = 3;
  int m = MAX(i++, 2);
  assert(m == 3);
  assert(i == 5); //~ ERROR
  int r = ({ int t = 0; for (int k = 0; k < 3; k++) t += k; t; });
  assert(r == 3);
  return 0;
}
