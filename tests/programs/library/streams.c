// A stream is used while it is open, and `fflush` takes a null pointer, too.
// expect: bounds=true assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  FILE *file = fopen("out", "w");
  if (!file) {
    fprintf(stderr, "out cannot be opened\n");
    return 1;
  }
  fputs("text", file);
  fclose(file);
  fflush(0);
  assert(file != stdout);
  return 0;
}
