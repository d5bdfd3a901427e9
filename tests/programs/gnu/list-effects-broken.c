// What names a list of arguments is evaluated.
// expect: assertions=false
#include <assert.h>
#include <stdarg.h>
static int calls;
static void use(int count, ...) {
  va_list list;
  va_start(list, count);
  va_end(*(calls++, &list));
}
int main(void) {
  use(1, 2);
  assert(calls == 0); //~ ERROR
  return 0;
}
