// Variables that are set before they are read, in all places where the broken programs do not.
// expect: assertions=true races=true
#include <assert.h>
#include <stdatomic.h>
static atomic_int ready = 1;
int main(void) {
  for (int i = 0; i < 2; i++) {
    int x, *p = &x;
    x = i;
    assert(*p == i);
    int k = ({
      int y, *q = &y;
      *q = i;
      y + 1;
    });
    assert(k == i + 1);
    for (int z, *q = &z; q; q = 0) {
      z = 4;
      assert(*q == 4);
    }
    while (!atomic_load_explicit(&ready, memory_order_acquire))
      ;
  }
  return 0;
}
