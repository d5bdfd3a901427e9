// sizeof has no side effect.
// expect: assertions=false races=true
#include <assert.h>
struct pair { int a, b; };
int main(void) {
  int n = 0, v[7];
  assert(sizeof(n++) == sizeof(int));
  assert(n == 1); //~ ERROR
  assert(sizeof(v) / sizeof(v[0]) == 7);
  assert(sizeof(char) == 1 && sizeof(struct pair) == 8 && sizeof(long long) == 8);
  assert(sizeof "abc" == 4);
  return 0;
}
