// A nested function changes a variable of the function around it, also in the middle of an expression.
// expect: assertions=false
#include <assert.h>
int main(void) {
  int x = 1;
  int change(void) {
    x = 5;
    return 1;
  }
  int found = x + change();
  assert(found == 2); //~ ERROR
  return 0;
}
