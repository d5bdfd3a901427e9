// String literals end with a zero and initialise char arrays.
// expect: assertions=true races=true
#include <assert.h>
static int length(const char *s) {
  int n = 0;
  while (s[n] != '\0')
    n++;
  return n;
}
int main(void) {
  const char *s = "cat";
  char a[] = "cat", b[5] = "hi";
  assert(length(s) == 3);
  assert(sizeof a == 4 && a[3] == 0 && b[2] == 0 && b[4] == 0);
  a[0] = 'b';
  assert(a[0] == 'b' && s[0] == 'c' && "xyz"[1] == 'y');
  return 0;
}
