// A copy of a text of the environment is the program's, and a stream is closed.
// expect: free=true
// args: --engine owned
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *home = getenv("HOME");
  if (home) {
    char *mine = strdup(home);
    free(mine);
  }
  FILE *file = fopen("a", "r");
  if (file)
    fclose(file);
  return 0;
}
