// A condition is evaluated again and again, too: its variables have any value each time.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int n = 0;
  while (({
    int x, *p = &x;
    if (n == 1)
      assert(*p == 5); //~ ERROR
    *p = 5;
    n++ < 1;
  }))
    ;
  return 0;
}
