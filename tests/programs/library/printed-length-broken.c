// The text has one byte more than is thought.
// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  char text[8];
  assert(snprintf(text, sizeof text, "%d", -1) == 1); //~ ERROR
  return 0;
}
