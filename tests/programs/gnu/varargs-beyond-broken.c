// What is taken from a list beyond the last argument is not there.
// expect: bounds=false
// not reproduced: nothing checks what the compiled program takes beyond the last argument
#include <stdarg.h>

static int sum(int count, ...) {
  va_list list;
  int sum = 0;
  va_start(list, count);
  for (int i = 0; i <= count; i++)
    sum += va_arg(list, int); //~ ERROR
  va_end(list);
  return sum;
}

int main(void) { return sum(2, 1, 2); }
