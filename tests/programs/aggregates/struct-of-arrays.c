// A struct with array members is copied with its arrays.
// expect: assertions=true races=true
#include <assert.h>
struct buf { int len; int data[3]; };
int main(void) {
  struct buf a = {2, {10, 20}}, b = a;
  b.data[1] = 99;
  assert(a.data[1] == 20);
  assert(a.data[2] == 0 && b.len == 2 && b.data[1] == 99);
  return 0;
}
