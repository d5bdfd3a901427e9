// At the end, registered functions run in reverse, then destructors: those without a priority first.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
static int log_;
__attribute__((destructor(200))) static void fifth(void) { assert(log_ == 4321); }
__attribute__((destructor(300))) static void fourth(void) { log_ += 4000; }
__attribute__((destructor)) static void third(void) { assert(log_ == 21); log_ += 300; }
static void second(void) { assert(log_ == 1); log_ += 20; }
static void first(void) { assert(log_ == 0); log_ += 1; }
int main(void) {
  atexit(second);
  atexit(first);
  return 0;
}
