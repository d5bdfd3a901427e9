// Comparing more bytes than there are is an invalid access, also where the first ones differ.
// expect: bounds=false
#include <string.h>
int main(void) {
  char a[2] = {1, 2}, b[4] = {3, 4, 5, 6};
  return memcmp(a, b, 4) > 0; //~ ERROR
}
