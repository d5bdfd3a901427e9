// Division truncates toward zero and the remainder takes the sign of the dividend.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int a = -7, b = 3;
  assert(a / b == -2);
  assert(a % b == -1);
  assert(7 / -3 == -2 && 7 % -3 == 1);
  assert((unsigned)a / 2u == 2147483644u);
  return 0;
}
