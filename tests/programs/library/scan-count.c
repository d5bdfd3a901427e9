// Where `%n` counts, it is not known which targets stay as they are: an execution in which the count is not
// stored proves no violation.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  int end = 0;
  sscanf("12abc", "%*d%n", &end);
  assert(end == 2);
  return 0;
}
