// Freed memory is printed.
// expect: bounds=false
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  p[0] = 0;
  free(p);
  puts(p); //~ ERROR
  return 0;
}
