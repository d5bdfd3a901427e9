// Entry 1 of the table is subtraction.
// expect: assertions=false races=true
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
  assert((*ops[1])(7, 2) == 9); //~ ERROR
  return 0;
}
