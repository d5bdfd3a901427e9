// The word "bool" in a name says nothing about the values of an int.
// expect: assertions=false races=true
#include <assert.h>
extern int nondet_bool(void);
int main(void) {
  int b = nondet_bool();
  assert(b == 0 || b == 1); //~ ERROR
  return 0;
}
