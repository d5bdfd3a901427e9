// A pointer may walk over the whole structure.
// expect: bounds=true
#include <string.h>
struct s { int a[4]; int b; } s;
int main(void) {
  unsigned char *p = (unsigned char *)&s;
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof s; i++)
    sum += p[i];
  memset(s.a, 0, sizeof s);
  return sum;
}
