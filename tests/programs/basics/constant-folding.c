// Constant expressions in array sizes, enumerators, case labels and initialisers.
// expect: assertions=true races=true
#include <assert.h>
#define WIDTH 3
enum { SIZE = WIDTH * 2 + 1 };
static int table[SIZE] = {[SIZE - 1] = 9};
static const int limit = (1 << 4) - (5 > 3 ? 1 : 2);
int main(void) {
  assert(limit == 15);
  assert(sizeof table / sizeof *table == 7);
  assert(table[6] == 9 && table[0] == 0);
  switch (limit) {
  case SIZE + 8:
    break;
  default:
    assert(0);
  }
  return 0;
}
