// The comma operator does not yield its left operand.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i, j;
  for (i = 0, j = 10; i < j; i++, j--)
    ;
  assert(i == 5 && j == 5);
  int k = (i = 1, j = 2, i + j);
  assert(k == 1); //~ ERROR
  return 0;
}
