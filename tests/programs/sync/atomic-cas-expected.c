// A failed compare-and-swap stores the seen value into expected.
// expect: assertions=true races=true
#include <assert.h>
#include <stdatomic.h>
int main(void) {
  atomic_int a = 5;
  int expected = 3;
  _Bool ok = atomic_compare_exchange_strong(&a, &expected, 9);
  assert(!ok && a == 5);
  assert(expected == 5);
  ok = atomic_compare_exchange_strong(&a, &expected, 9);
  assert(ok && a == 9 && expected == 5);
  return 0;
}
