// A character that was put back is read next.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  int first = getchar();
  if (first == EOF || ungetc(first, stdin) == EOF)
    return 0;
  assert(getchar() == first);
  return 0;
}
