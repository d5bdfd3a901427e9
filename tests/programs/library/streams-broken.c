// A file that cannot be opened is written to.
// expect: bounds=false
#include <stdio.h>
int main(void) {
  FILE *file = fopen("out", "w");
  fputs("text", file); //~ ERROR
  return 0;
}
