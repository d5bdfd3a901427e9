// A table of function pointers selects the operation.
// expect: assertions=true races=true
#include <assert.h>
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const ops[])(int, int) = {add, sub, &mul};
int main(void) {
  int r = 0;
  for (int i = 0; i < 3; i++)
    r = r * 100 + ops[i](7, 2);
  assert(r == 90514);
  assert((*ops[1])(7, 2) == 5);
  return 0;
}
