// More of a literal is written out than there is.
// expect: bounds=false
#include <stdio.h>
int main(void) {
  fwrite("abc", 1, 5, stdout); //~ ERROR
  return 0;
}
