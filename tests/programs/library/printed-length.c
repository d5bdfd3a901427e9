// How many bytes a format makes, and where they go.
// expect: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char text[8] = "unset!!";
  assert(snprintf(text, 4, "%d", -12345) == 6);
  assert(text[3] == 0 && text[4] == 't');
  return 0;
}
