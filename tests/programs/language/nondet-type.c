// An input has the type that its function is declared with, whatever its name says.
// expect: assertions=true races=true
#include <assert.h>
extern unsigned char nondet_bool_byte(void);
extern _Bool nondet_bool(void);
int main(void) {
  assert(nondet_bool_byte() < 256);
  assert(nondet_bool() < 2);
  return 0;
}
