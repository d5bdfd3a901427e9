// Enumerators count up from the last explicit value.
// expect: assertions=true races=true
#include <assert.h>
enum colour { RED, GREEN = 5, BLUE, BLACK = -1, WHITE };
int main(void) {
  enum colour c = BLUE;
  assert(RED == 0);
  assert(c == 6);
  assert(WHITE == 0);
  enum { LOCAL = BLUE * 2 };
  assert(LOCAL == 12);
  return 0;
}
