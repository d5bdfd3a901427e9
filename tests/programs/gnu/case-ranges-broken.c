// The range 2 ... 5 includes both ends.
// expect: assertions=false races=true
#include <assert.h>
static int kind(int x) {
  switch (x) {
  case 0 ... 1:
    return 1;
  case 2 ... 5:
    return 2;
  case -9 ... -1:
    return 3;
  }
  return 0;
}
int main(void) {
  assert(kind(5) == 0); //~ ERROR
  assert(kind(0) == 1 && kind(1) == 1 && kind(2) == 2 && kind(-9) == 3 && kind(6) == 0);
  return 0;
}
