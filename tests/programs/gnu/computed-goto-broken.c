// The second label adds ten.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  void *table[] = {&&one, &&ten};
  int r = 0;
  goto *table[1];
one:
  r += 1;
  goto done;
ten:
  r += 10;
done:
  assert(r == 1); //~ ERROR
  return 0;
}
