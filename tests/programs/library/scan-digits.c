// expect: assertions=true
// args: --engine horn
// A limit on digits limits the number.
#include <assert.h>
#include <stdio.h>
int main(void) {
  int x;
  if (scanf("%2d", &x) == 1) assert(x <= 99 && x >= -9);
  return 0;
}
