// The product needs more than 32 bits.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  long long a = 3000000000LL;
  unsigned int b = 3000000000u;
  assert(a * 2 == 6000000000LL);
  assert(b * 2u == 1705032704u);
  assert((unsigned long long)b * 2 == 1705032704ull); //~ ERROR
  int narrow = (int)(a - 2999999990LL);
  assert(narrow == 10);
  return 0;
}
