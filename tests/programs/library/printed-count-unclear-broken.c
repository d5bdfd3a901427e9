// What is passed as a number stays as it is.
// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  char format[] = "%d";
  int count = 9;
  printf(format, count);
  assert(count == 2); //~ ERROR
  return 0;
}
