// The variable is set once by its name, and once through a pointer.
// expect: memtrack=false
#include <stdlib.h>
#include <string.h>
char *text;
char **address = &text;
int main(void) {
  text = malloc(3); //~ ERROR
  *address = 0;
  return 0;
}
