// What an array held in the last iteration is gone: reaching its declaration makes its value indeterminate.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++) {
    int a[2];
    if (i == 0)
      a[0] = 5;
    else
      assert(a[0] == 5); //~ ERROR
  }
  return 0;
}
