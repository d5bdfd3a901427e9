// What is read from a file that another program wrote is an input.
// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  FILE *file = fopen("name", "r");
  if (!file)
    return 0;
  int first = fgetc(file);
  assert(first == 'x' || first == EOF); //~ ERROR
  fclose(file);
  return 0;
}
