// An initialiser of a union sets one member; what has none is zero.
// expect: assertions=true
#include <assert.h>
union number {
  char small;
  long large;
};
union wide {
  struct {
    int first, second;
  } pair;
  char bytes[4];
};
union number fixed = {5};
int main(void) {
  union number one = {5}, other = {.large = 7};
  union wide wide = {{3}};
  struct {
    int head;
    union number number;
  } both = {1};
  assert(one.small == 5 && other.large == 7);
  assert(wide.pair.first == 3 && wide.pair.second == 0);
  assert(both.number.large == 0);
  assert(fixed.small == 5);
  return 0;
}
