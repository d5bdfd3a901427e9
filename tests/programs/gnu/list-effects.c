// What names a list of arguments, or only gives a type, is evaluated once.
// expect: assertions=true
#include <assert.h>
#include <stdarg.h>
static int calls;
static void use(int count, ...) {
  va_list list, other;
  va_start(list, count);
  va_copy(*(calls++, &other), list);
  (void)va_arg(*(calls++, &list), int);
  va_end(*(calls++, &list));
  va_end(other);
}
int main(void) {
  use(1, 2);
  assert(calls == 3);
  assert(!__builtin_add_overflow_p(1, 2, (calls++, 0)));
  assert(calls == 4);
  return 0;
}
