// A text that is printed into memory is exact, so what depends on it is known.
// expect: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char text[8];
  snprintf(text, sizeof text, "%d", 7);
  assert(text[0] == '7');
  return 0;
}
