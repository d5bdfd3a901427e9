// The quotient is no `int`.
// expect: overflow=false
#include <limits.h>
#include <stdlib.h>
int main(void) {
  int divisor = -1;
  div_t parts = div(INT_MIN, divisor); //~ ERROR
  return parts.rem;
}
