// `div` gives the quotient and the remainder, both rounded towards zero.
// expect: assertions=true overflow=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  div_t parts = div(-7, 2);
  assert(parts.quot == -3 && parts.rem == -1);
  ldiv_t more = ldiv(7L, -2L);
  assert(more.quot == -3 && more.rem == 1);
  return 0;
}
