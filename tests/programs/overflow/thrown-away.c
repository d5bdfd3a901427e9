// Values that nobody uses fit; what is not evaluated cannot overflow.
// expect: overflow=true
#include <limits.h>
int main(void) {
  int x = INT_MAX;
  (void)(x - 1);
  x / 2;
  return sizeof(x + 1) == 0;
}
