// The jump into the block skips the initialiser.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i = 0, *p;
again:
  if (i == 1)
    goto inside;
  {
    int a = 3;
  inside:
    p = &a;
    if (i == 1)
      assert(*p == 3); //~ ERROR
  }
  if (i++ == 0)
    goto again;
  return 0;
}
