// signed char and unsigned char extend differently.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  signed char s = (signed char)0xff;
  unsigned char u = 0xff;
  assert(u == 255);
  assert(s == -1);
  assert((unsigned char)s == u);
  assert('a' + 1 == 'b');
  return 0;
}
