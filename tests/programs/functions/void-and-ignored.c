// Void functions and ignored results still have their effects.
// expect: assertions=true races=true
#include <assert.h>
static int n;
static void hit(void) { n++; }
static int bump(void) { return ++n; }
int main(void) {
  hit();
  bump();
  (void)bump();
  assert(n == 3);
  return 0;
}
