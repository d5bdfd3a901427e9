// Addresses have a total order: one of two comes first, the answer stays the same, and of three it is transitive.
// expect: assertions=true
#include <assert.h>
#include <stdint.h>
int x, y, z;
static int before(int *p, int *q) { return p < q; }
int main(void) {
  assert(before(&x, &y) != before(&y, &x));
  assert(before(&x, &y) == before(&x, &y));
  assert(!before(&x, &x));
  if (before(&x, &y) && before(&y, &z)) assert(before(&x, &z));
  if (before(&z, &y) && before(&y, &x)) assert(before(&z, &x));
  return 0;
}
