// The function exits only for other arguments.
// expect: assertions=false races=true
#include <assert.h>
#include <stdlib.h>
static void stop(int x) {
  if (x == 1)
    exit(0);
}
int main(void) {
  stop(2);
  assert(0); //~ ERROR
  return 0;
}
