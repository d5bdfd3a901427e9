// An array of a function goes away by itself.
// expect: bounds=true
#include <stdlib.h>
int main(void) {
  char text[8], *copy = malloc(8);
  text[0] = 0;
  copy[0] = text[0];
  free(copy);
  return 0;
}
