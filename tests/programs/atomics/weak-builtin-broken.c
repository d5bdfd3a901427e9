// A weak exchange by the builtin may fail, too, and leaves what it found.
// expect: assertions=false
#include <assert.h>
int taken;
int main(void) {
  int expected = 0;
  _Bool done = __atomic_compare_exchange_n(&taken, &expected, 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  assert(expected == 0);
  assert(done); //~ ERROR
  return 0;
}
