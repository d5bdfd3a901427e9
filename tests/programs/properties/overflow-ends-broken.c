// Unsigned wrap-around does not end the run.
// expect: assertions=false races=true overflow=true
#include <assert.h>
#include <limits.h>
int main(void) {
  unsigned x = UINT_MAX;
  x++;
  assert(x == 1); //~ ERROR
  return 0;
}
