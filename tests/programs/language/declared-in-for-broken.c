// So has a variable that a `for` statement declares.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    {
      int unrelated, *q = &unrelated;
      *q = i;
    }
    for (int x, *p = &x; p; p = 0) {
      if (i == 1)
        assert(*p == 5); //~ ERROR
      *p = 5;
    }
  }
  return 0;
}
