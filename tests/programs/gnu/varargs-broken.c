// The variadic sum takes three arguments.
// expect: races=true assertions=false
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
static int sum(int n, ...) {
  va_list ap;
  int s = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++)
    s += va_arg(ap, int);
  va_end(ap);
  return s;
}
int main(void) {
  int s = sum(3, 1, 2, 4);
  printf("sum %d of %s\n", s, "three");
  assert(s == 3); //~ ERROR
  return 0;
}
