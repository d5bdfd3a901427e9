// __extension__ does not change the value.
// expect: assertions=false races=true
#include <assert.h>
__extension__ typedef long long wide;
static __inline__ __signed__ int neg(__const int x) { return -x; }
int main(void) {
  wide w = __extension__ 0x100000000LL;
  int __volatile__ v = __extension__ ({ 4; });
  assert(w >> 32 == 1);
  assert(neg(v) == 4); //~ ERROR
  return 0;
}
