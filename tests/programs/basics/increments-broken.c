// Post-increment yields the old value.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int i = 5;
  int a = i++;
  int b = ++i;
  assert(a == 6); //~ ERROR
  assert(b == 7 && i == 7);
  int v[3] = {1, 2, 3}, *p = v;
  assert(*p++ == 1 && *p == 2);
  assert(++*p == 3 && p[-1] == 1);
  assert(i-- == 7 && --i == 5);
  return 0;
}
