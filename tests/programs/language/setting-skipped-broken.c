// A jump skips the statement that sets the variable.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    int x, *p;
    if (i == 1)
      goto skipped;
    x = 5;
  skipped:
    p = &x;
    assert(*p == 5); //~ ERROR
  }
  return 0;
}
