// A copy of a list continues where the list was.
// expect: assertions=false
#include <assert.h>
#include <stdarg.h>

static int third(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_arg(list, int);
  va_copy(copy, list);
  va_arg(copy, int);
  int value = va_arg(list, int);
  va_end(copy);
  va_end(list);
  return value;
}

int main(void) {
  assert(third(3, 10, 20, 30) == 30); //~ ERROR
  return 0;
}
