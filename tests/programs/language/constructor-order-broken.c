// The order of the text does not count where priorities differ.
// expect: assertions=false races=true
#include <assert.h>
int log_;
__attribute__((constructor)) static void late(void) { log_ = log_ * 10 + 2; }
__attribute__((constructor(300))) static void early(void) { log_ = log_ * 10 + 1; }
int main(void) {
  assert(log_ == 21); //~ ERROR
  return 0;
}
