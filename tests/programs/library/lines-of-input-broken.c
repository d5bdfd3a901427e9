// A line may have any first character.
// expect: assertions=false
#include <assert.h>
#include <stdio.h>
int main(void) {
  char line[8];
  if (fgets(line, sizeof line, stdin))
    assert(line[0] != 'q'); //~ ERROR
  return 0;
}
