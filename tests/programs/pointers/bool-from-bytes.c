// A byte that is read as a truth value is 1 if any of its bits is set.
// expect: assertions=true
#include <assert.h>
unsigned char byte = 200;
int main(void) {
  _Bool *flag = (_Bool *)&byte;
  assert(*flag == 1);
  return 0;
}
