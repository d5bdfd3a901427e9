// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  int x;
  if (scanf("%2d", &x) == 1) assert(x < 99); //~ ERROR
  return 0;
}
