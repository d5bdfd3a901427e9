// The variables of a statement expression have any value each time it is evaluated.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    int k = ({
      int x, *p = &x;
      if (i == 1)
        assert(*p == 5); //~ ERROR
      *p = 5;
      1;
    });
  }
  return 0;
}
