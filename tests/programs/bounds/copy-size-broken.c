// One byte too many may be copied.
// expect: bounds=false
#include <string.h>
char from[8], to[8];
unsigned __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint();
  if (n <= 9)
    memcpy(to, from, n); //~ ERROR
  return 0;
}
