// An enumerator after an explicit value is one more than it.
// expect: assertions=false races=true
#include <assert.h>
enum colour { RED, GREEN = 5, BLUE, BLACK = -1, WHITE };
int main(void) {
  enum colour c = BLUE;
  assert(RED == 0);
  assert(c == 2); //~ ERROR
  assert(WHITE == 0);
  enum { LOCAL = BLUE * 2 };
  assert(LOCAL == 12);
  return 0;
}
