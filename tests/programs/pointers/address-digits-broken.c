// Two variables may have the same place in a table that is found by digits of their addresses.
// todo: assertions=false
#include <assert.h>
#include <stdint.h>
int x, y;
int table[8];
static unsigned place(int *p) { return ((uintptr_t)p >> 4) & 7; }
int main(void) {
  table[place(&x)]++;
  table[place(&y)]++;
  assert(table[place(&x)] <= 1 || place(&x) != place(&y) + 1);
  assert(table[place(&x)] == 1 || place(&x) == 0);
  return 0;
}
