// memset and memcpy work on whole objects.
// expect: assertions=true races=true
#include <assert.h>
#include <string.h>
struct s { int a; int v[2]; };
int main(void) {
  struct s x = {1, {2, 3}}, y;
  memset(&y, 0, sizeof y);
  assert(y.a == 0 && y.v[1] == 0);
  memcpy(&y, &x, sizeof y);
  x.v[1] = 30;
  assert(y.v[1] == 3);
  char b[4];
  memset(b, 'z', sizeof b);
  assert(b[0] == 'z' && b[3] == 'z');
  return 0;
}
