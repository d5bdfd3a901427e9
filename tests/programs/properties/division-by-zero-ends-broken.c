// A division by one does not end the run.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  int d = 1;
  int x = 10 / d;
  assert(x == 0); //~ ERROR
  return 0;
}
