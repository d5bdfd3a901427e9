// A text of the environment is the library's.
// expect: free=false
#include <stdlib.h>
int main(void) {
  char *home = getenv("HOME");
  if (home)
    free(home); //~ ERROR
  return 0;
}
