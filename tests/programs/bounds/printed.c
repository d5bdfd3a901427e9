// Strings are printed while they live.
// expect: bounds=true
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *p = malloc(4);
  p[0] = 'a';
  p[1] = 0;
  puts(p);
  printf("%s", p);
  free(p);
  return 0;
}
