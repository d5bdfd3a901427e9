// Copying a struct copies its arrays.
// expect: assertions=false races=true
#include <assert.h>
struct buf { int len; int data[3]; };
int main(void) {
  struct buf a = {2, {10, 20}}, b = a;
  b.data[1] = 99;
  assert(a.data[1] == 99); //~ ERROR
  assert(a.data[2] == 0 && b.len == 2 && b.data[1] == 99);
  return 0;
}
