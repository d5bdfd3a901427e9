// Calls through several levels with locals of the same name.
// expect: assertions=true races=true
#include <assert.h>
static int a(int x) { int t = x + 1; return t; }
static int b(int x) { int t = a(x) + 10; return a(t) + t; }
static int c(int x) { int t = b(x) * 2; return b(t) - t; }
int main(void) {
  assert(b(0) == 23);
  assert(c(0) == 69);
  return 0;
}
