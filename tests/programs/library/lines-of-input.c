// A new line ends what is read.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char line[8];
  if (fgets(line, sizeof line, stdin) && line[0] == '\n')
    assert(line[1] == 0);
  return 0;
}
