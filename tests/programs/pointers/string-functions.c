// strlen, strcmp and strcpy on small strings.
// expect: assertions=true races=true
#include <assert.h>
#include <string.h>
int main(void) {
  char b[8];
  strcpy(b, "abc");
  assert(strlen(b) == 3);
  assert(strcmp(b, "abc") == 0);
  assert(strcmp(b, "abd") < 0);
  return 0;
}
