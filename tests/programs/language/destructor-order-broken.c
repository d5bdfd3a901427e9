// Functions that are registered later run earlier; `exit` runs them as the end of main does.
// expect: assertions=false races=true
#include <assert.h>
#include <stdlib.h>
static int log_;
static void one(void) { log_ = log_ * 10 + 1; }
static void two(void) { log_ = log_ * 10 + 2; }
__attribute__((destructor)) static void check(void) {
  assert(log_ == 12); //~ ERROR
}
int main(void) {
  atexit(one);
  atexit(two);
  exit(0);
}
