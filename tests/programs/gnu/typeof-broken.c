// typeof keeps the unsigned char type and its wrap-around.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  unsigned char c = 255;
  typeof(c) d = c;
  __typeof__(&d) p = &d;
  (*p)++;
  assert(d == 256); //~ ERROR
  typeof(int[3]) v = {1, 2, 3};
  assert(sizeof v == 12);
  return 0;
}
