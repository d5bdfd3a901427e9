// A byte that is read as a truth value is not cut to its lowest bit.
// expect: assertions=false
#include <assert.h>
unsigned char byte = 200;
int main(void) {
  _Bool *flag = (_Bool *)&byte;
  assert(*flag == 0); //~ ERROR
  return 0;
}
