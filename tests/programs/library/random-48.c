// POSIX defines the numbers that follow a seed: upper bits of a linear congruential sequence.
// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  srand48(1);
  long first = lrand48(), second = mrand48();
  assert(first == 89400484 && second == 1952030186);
  return 0;
}
