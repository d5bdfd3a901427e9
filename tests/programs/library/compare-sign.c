// Comparisons of strings and memory give the sign of the difference.
// expect: assertions=true
#include <assert.h>
#include <string.h>
int main(void) {
  assert(strcmp("abc", "abd") < 0 && strcmp("b", "a") > 0 && strcmp("same", "same") == 0);
  assert(memcmp("\377", "\1", 1) > 0 && strncmp("abc", "abd", 2) == 0);
  return 0;
}
