// Comparing as many bytes as both have.
// expect: bounds=true
#include <string.h>
int main(void) {
  char a[2] = {1, 2}, b[4] = {3, 4, 5, 6};
  return memcmp(a, b, 2) > 0;
}
