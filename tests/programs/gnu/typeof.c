// typeof names the type of an expression.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  unsigned char c = 255;
  typeof(c) d = c;
  __typeof__(&d) p = &d;
  (*p)++;
  assert(d == 0);
  typeof(int[3]) v = {1, 2, 3};
  assert(sizeof v == 12);
  return 0;
}
