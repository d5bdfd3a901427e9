// The pointer is declared together with the variable, which no later statement names.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    int x, *p = &x;
    if (i == 1)
      assert(*p == 5); //~ ERROR
    *p = 5;
  }
  return 0;
}
