// A stream that is opened for update gives what was written to it.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  FILE *file = fopen("name", "w+");
  if (!file)
    return 0;
  fputc('x', file);
  rewind(file);
  int first = fgetc(file);
  assert(first == 'x' || first == EOF);
  fclose(file);
  return 0;
}
