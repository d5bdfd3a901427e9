// An inner declaration hides the outer one.
// expect: assertions=true races=true
#include <assert.h>
int x = 1;
int main(void) {
  assert(x == 1);
  int x = 2;
  {
    int x = 3;
    x++;
    assert(x == 4);
  }
  for (int x = 0; x < 3; x++)
    ;
  assert(x == 2);
  return 0;
}
