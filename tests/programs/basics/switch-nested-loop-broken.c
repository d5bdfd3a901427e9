// break inside a switch does not leave the loop.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i, sum = 0;
  for (i = 0; i < 4; i++) {
    switch (i) {
    case 1:
      break;
    case 2:
      continue;
    default:
      sum += 1;
    }
    sum += 10;
  }
  assert(sum == 11); //~ ERROR
  return 0;
}
