// A stream is used after it was closed.
// expect: bounds=false
#include <stdio.h>
int main(void) {
  FILE *file = fopen("in", "r");
  if (!file)
    return 1;
  fclose(file);
  return fgetc(file); //~ ERROR
}
