// The number of bytes is checked before they are copied.
// expect: bounds=true
#include <string.h>
char from[8], to[8];
unsigned __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint();
  if (n <= 8)
    memcpy(to, from, n);
  return 0;
}
