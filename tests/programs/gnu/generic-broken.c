// The character constant has type int.
// expect: assertions=false races=true
#include <assert.h>
#define KIND(x) _Generic((x), char: 1, int: 2, unsigned int: 3, char *: 4, default: 9)
int main(void) {
  char c = 'a';
  assert(KIND(c) == 1);
  assert(KIND('a') == 1); //~ ERROR
  assert(KIND(1u) == 3 && KIND(1LL) == 9 && KIND(&c) == 4);
  return 0;
}
