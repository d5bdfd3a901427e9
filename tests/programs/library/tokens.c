// The parts of a string, and numbers in them.
// expect: assertions=true
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
int main(void) {
  char text[] = " 12,x";
  char *rest, *end;
  char *first = strtok_r(text, ",", &rest);
  assert(strtol(first, &end, 10) == 12 && *end == 0);
  char *second = strtok_r(0, ",", &rest);
  assert(second && second[0] == 'x' && !strtok_r(0, ",", &rest));
  assert(strspn("aab", "a") == 2 && strcspn("aab", "b") == 2);
  assert(strstr("hello", "ll") && !strstr("hello", "lll"));
  assert(strcasecmp("Ab", "aB") == 0);
  assert(atoi("-7") == -7 && strtol("0x1f", 0, 0) == 31 && strtoul("777", 0, 8) == 511);
  errno = 0;
  assert(strtol("99999999999999999999", 0, 10) == 0x7fffffffffffffff && errno == ERANGE);
  return 0;
}
