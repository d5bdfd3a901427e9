// What an unknown function of the program gives is an input, also beside functions of the system.
// expect: assertions=false
#include <assert.h>
#include <wctype.h>
int measure(void);
int main(void) {
  iswdigit(L'a');
  assert(measure() != 2); //~ ERROR
  return 0;
}
