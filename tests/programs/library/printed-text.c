// Which text is printed is not modelled: nothing is said that depends on it.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char text[8];
  snprintf(text, sizeof text, "%d", 7);
  assert(text[0] == '7');
  return 0;
}
