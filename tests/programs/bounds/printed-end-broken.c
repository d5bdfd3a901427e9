// The string has no end.
// expect: bounds=false
#include <stdio.h>
int main(void) {
  char a[2] = {'a', 'b'};
  printf("%s", a); //~ ERROR
  return 0;
}
