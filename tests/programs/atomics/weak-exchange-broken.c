// A weak exchange may fail though the value is the expected one.
// expect: assertions=false
#include <assert.h>
#include <stdatomic.h>
atomic_int taken;
int main(void) {
  int expected = 0;
  assert(atomic_compare_exchange_weak(&taken, &expected, 1)); //~ ERROR
  return 0;
}
