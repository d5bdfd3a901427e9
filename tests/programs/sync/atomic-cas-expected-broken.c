// The failed compare-and-swap changes the expected value.
// expect: assertions=false races=true
#include <assert.h>
#include <stdatomic.h>
int main(void) {
  atomic_int a = 5;
  int expected = 3;
  _Bool ok = atomic_compare_exchange_strong(&a, &expected, 9);
  assert(!ok && a == 5);
  assert(expected == 3); //~ ERROR
  ok = atomic_compare_exchange_strong(&a, &expected, 9);
  assert(ok && a == 9 && expected == 5);
  return 0;
}
