// Arguments of several types are taken in their order, through a copy of the list, through a function that gets the list, and by a
// function that is called through a pointer.
// expect: assertions=true
#include <assert.h>
#include <stdarg.h>

static long next(va_list list) { return va_arg(list, long); }

static int check(const char *text, ...) {
  va_list list, copy;
  va_start(list, text);
  int one = va_arg(list, int);
  va_copy(copy, list);
  long two = next(list);
  assert(va_arg(copy, long) == two);
  char three = *va_arg(copy, char *);
  double four = va_arg(copy, double);
  va_end(copy);
  va_end(list);
  return one + (int)two + (three == *text) + (four == 0.5);
}

static int depth(int count, ...) {
  va_list list;
  va_start(list, count);
  int first = va_arg(list, int), second = va_arg(list, int);
  va_end(list);
  return count == 0 ? first - second : depth(count - 1, second, first) + second;
}

int main(void) {
  int (*through)(const char *, ...) = check;
  assert(check("b", 1, 20L, "bc", 0.5) == 23);
  assert(through("a", (char)1, 20L, "bc", 0.25f) == 21);
  assert(depth(2, 7, 4) == 4 + 7 + 3);
  assert(depth(1, depth(0, 9, 5), depth(0, 5, 4)) == 1 - 3);
  return 0;
}
