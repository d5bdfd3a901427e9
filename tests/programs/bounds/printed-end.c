// The string ends before its array does.
// expect: bounds=true
#include <stdio.h>
int main(void) {
  char a[3] = {'a', 'b', 0};
  printf("%s", a);
  return 0;
}
