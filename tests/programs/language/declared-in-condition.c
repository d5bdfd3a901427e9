// The variables of a condition are set before they are read.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int n = 0;
  for (int i = 0; ({
         int x[2], *p = x;
         *p = i;
         assert(x[0] == i);
         i < 3;
       });
       i++)
    n += i;
  assert(n == 3);
  return 0;
}
