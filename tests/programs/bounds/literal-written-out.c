// A literal is written out with the zero that ends it, and a part of one.
// expect: bounds=true
#include <stdio.h>
#include <unistd.h>
int main(void) {
  fwrite("abc", 1, 4, stdout);
  write(1, "abc", 2);
  return 0;
}
