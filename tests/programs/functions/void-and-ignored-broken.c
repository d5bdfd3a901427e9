// Both calls count.
// expect: assertions=false races=true
#include <assert.h>
static int n;
static void hit(void) { n++; }
static int bump(void) { return ++n; }
int main(void) {
  hit();
  bump();
  (void)bump();
  assert(n == 1); //~ ERROR
  return 0;
}
