// Each activation has an uninitialised array of its own: what two calls copy need not agree.
// expect: assertions=false
#include <assert.h>
#include <string.h>
static void fill(int *to) {
  int open[12];
  memcpy(to, open, sizeof open);
}
int main(void) {
  int one[12], other[12];
  fill(one);
  fill(other);
  assert(one[5] == other[5]); //~ ERROR
  return 0;
}
