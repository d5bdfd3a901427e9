// The value of a condition is a copy, also where a pointer into it is passed on (C11 6.2.4p8).
// expect: assertions=true
// args: --engine horn
#include <assert.h>
struct pair {
  int a[2];
} one = {{1, 2}}, two = {{3, 4}};
static int read_after_change(const int *p) {
  one.a[0] = 9;
  two.a[0] = 9;
  return p[0];
}
int main(int argc, char **argv) {
  int first = (argc > 1 ? one : two).a[0];
  assert(first == (argc > 1 ? 1 : 3));
  assert(read_after_change((argc > 1 ? one : two).a) == first);
  return 0;
}
