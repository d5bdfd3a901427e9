// A number of 128 bits is not modelled: the verdict says so, and where.
#include <assert.h>

int main(void) {
  __int128 big = 1;
  big = big << 70;
  assert((int)(big >> 64) == 64);
  return 0;
}
