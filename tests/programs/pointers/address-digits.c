// Low bits of addresses are known from the alignment of the objects: marks can be kept there, and taken off again.
// expect: assertions=true races=true
#include <assert.h>
#include <stdint.h>
int x;
int main(void) {
  uintptr_t marked = (uintptr_t)&x | 1;
  assert(marked & 1);
  int *back = (int *)(marked & ~(uintptr_t)3);
  assert(back == &x);
  *back = 3;
  assert(x == 3);
  assert(((uintptr_t)&x & 3) == 0);
  return 0;
}
