// exit in a called function ends the whole program.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
static void stop(int x) {
  if (x == 1)
    exit(0);
}
int main(void) {
  stop(1);
  assert(0);
  return 0;
}
