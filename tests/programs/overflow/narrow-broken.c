// A product of two narrow values leaves the range of int.
// expect: overflow=false
#include <limits.h>
int main(void) {
  unsigned short a = 65535, b = 65535;
  unsigned c = a * b; //~ ERROR
  return c == 0;
}
