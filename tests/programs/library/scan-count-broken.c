// Without a count, what is read from a string is known, and so is what stays as it is.
// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  int number = 0, end = 0;
  sscanf("12abc", "%d %d", &number, &end);
  assert(end == 2); //~ ERROR
  return 0;
}
