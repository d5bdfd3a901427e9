// break does not leave the outer loop.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i = 0, count = 0;
  while (1) {
    int j;
    for (j = 0; ; j++) {
      if (j == 2)
        break;
      if (j == 0)
        continue;
      count++;
    }
    if (++i == 3)
      break;
  }
  assert(i == 3);
  assert(count == 1); //~ ERROR
  return 0;
}
