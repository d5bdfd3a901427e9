// todo: assertions=false
// A variable that was not there may be there once it was set: before, this was proved.
#include <assert.h>
#include <stdlib.h>
int main(void) {
  if (getenv("N")) return 0;
  setenv("N", "1", 1);
  assert(!getenv("N"));
  return 0;
}
