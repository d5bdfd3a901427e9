// Jumps past declarations: what is set after the jump is known, and what is in scope at the jump stays.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++)
    switch (i) {
      int a, b[2];
    case 0:
    case 1:
      a = i;
      b[1] = 2;
      sum += a + b[1];
      break;
    default:
      sum += 10;
    }
  assert(sum == 15);
  int n = 0;
  {
    int stays = 4;
  again:
    assert(stays == 4);
    if (n++ < 2)
      goto again;
  }
  return 0;
}
