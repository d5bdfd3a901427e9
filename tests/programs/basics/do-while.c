// A do loop runs its body at least once.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int n = 0, i = 5;
  do {
    n++;
  } while (i < 5);
  assert(n == 1);
  do {
    i--;
    if (i == 2)
      continue;
    n += 10;
  } while (i > 0);
  assert(n == 41 && i == 0);
  return 0;
}
