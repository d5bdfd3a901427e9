// A format that is not a literal may ask for the number of bytes so far.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char format[] = "ab%n";
  int count = 9;
  printf(format, &count);
  assert(count == 2);
  return 0;
}
