// The bytes of a union that are not in the initialised member have any value (C11 6.2.6.1p7).
// expect: assertions=false
#include <assert.h>
union number {
  char small;
  long large;
};
int main(void) {
  union number one = {5};
  assert(one.large == 5); //~ ERROR
  return 0;
}
