// The variable is set by one step, but more than once.
// expect: memtrack=false
#include <stdlib.h>
char *text;
int main(void) {
  for (int i = 0; i < 2; i++) text = malloc(3); //~ ERROR
  return 0;
}
