// expect: assertions=true
#include <assert.h>
int main(void) {
  unsigned x = 8;
  assert(__builtin_ctz(x) == 3 && __builtin_clz(x) == 28);
  assert(__builtin_ffs(0) == 0 && __builtin_popcount(0) == 0);
  return 0;
}
