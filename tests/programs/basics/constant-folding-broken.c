// The array has 2 * 3 + 1 elements.
// expect: assertions=false races=true
#include <assert.h>
#define WIDTH 3
enum { SIZE = WIDTH * 2 + 1 };
static int table[SIZE] = {[SIZE - 1] = 9};
static const int limit = (1 << 4) - (5 > 3 ? 1 : 2);
int main(void) {
  assert(limit == 15);
  assert(sizeof table / sizeof *table == 9); //~ ERROR
  assert(table[6] == 9 && table[0] == 0);
  switch (limit) {
  case SIZE + 8:
    break;
  default:
    assert(0);
  }
  return 0;
}
