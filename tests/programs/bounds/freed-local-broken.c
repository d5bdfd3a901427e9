// An array of a function is given back.
// expect: bounds=false
#include <stdlib.h>
int main(void) {
  char text[8];
  text[0] = 0;
  free(text); //~ ERROR
  return 0;
}
