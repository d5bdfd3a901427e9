// Distances of different objects may be anything: where that is an order in disguise, nothing may be proved.
// todo: assertions=false
#include <assert.h>
#include <stdint.h>
int x, y, z;
int main(void) {
  intptr_t one = (intptr_t)&y - (intptr_t)&x, other = (intptr_t)&x - (intptr_t)&y;
  z = one > 0;
  assert(z == (other < 0));
  assert(one > 4096 || one < -4096 || one % 64 != 36);
  return 0;
}
