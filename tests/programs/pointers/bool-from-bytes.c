// A byte that is neither 0 nor 1 is no truth value: reading it as one is undefined.
// todo: assertions=true
#include <assert.h>
unsigned char byte = 200;
int main(void) {
  _Bool *flag = (_Bool *)&byte;
  assert(*flag == 1);
  return 0;
}
