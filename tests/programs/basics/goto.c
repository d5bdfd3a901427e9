// goto jumps forward and backward, also out of nested loops.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int n = 0, i, j;
again:
  n++;
  if (n < 3)
    goto again;
  assert(n == 3);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      if (i == 1 && j == 2)
        goto out;
out:
  assert(i == 1 && j == 2);
  return 0;
}
