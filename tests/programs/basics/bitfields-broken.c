// An unsigned 3-bit field wraps at 8.
// expect: assertions=false races=true
#include <assert.h>
struct flags {
  unsigned int low : 3;
  signed int sign : 2;
  unsigned int one : 1;
  int : 0;
  unsigned int rest : 10;
};
int main(void) {
  struct flags f = {0};
  f.low = 7;
  f.low++;
  assert(f.low == 8); //~ ERROR
  f.sign = -1;
  f.rest = 1023;
  f.one = 1;
  assert(f.sign == -1 && f.rest == 1023 && f.one == 1 && f.low == 0);
  return 0;
}
