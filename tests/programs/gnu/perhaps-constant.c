// expect: assertions=true
// What is a constant by its form is one for every compiler; of the rest, a compiler may find out or not.
#include <assert.h>
enum { K = 3 };
int main(void) {
  int x = 5;
  int way = __builtin_constant_p(x);
  assert(__builtin_constant_p(5 + K));
  assert(way == 0 || way == 1);
  return 0;
}
