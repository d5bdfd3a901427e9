// A byte that is neither 0 nor 1 is no truth value: neither result of reading it is proved.
// todo: assertions=false
#include <assert.h>
unsigned char byte = 200;
int main(void) {
  _Bool *flag = (_Bool *)&byte;
  assert(*flag == 0);
  return 0;
}
