// A pragma makes a function weak that nobody defines: its address is null.
// expect: assertions=true
#include <assert.h>
#pragma weak missing
extern int missing(void);
int main(void) {
  assert(missing == 0);
  return 0;
}
