// Constructors run by priority, those without one last, and in the order of the text where that is the same.
// expect: assertions=true races=true
#include <assert.h>
int log_;
__attribute__((constructor)) static void fifth(void) { log_ = log_ * 10 + 5; }
__attribute__((constructor(300))) static void third(void) { log_ = log_ * 10 + 3; }
__attribute__((constructor(200))) static void first(void) { log_ = log_ * 10 + 1; }
__attribute__((constructor(300))) static void fourth(void) { log_ = log_ * 10 + 4; }
__attribute__((constructor(201))) static void second(void) { log_ = log_ * 10 + 2; }
int main(void) {
  assert(log_ == 12345);
  return 0;
}
